/** Parser of the command of an SSH client: git's three commands with one argument, or none. */

import type { GitService } from '../../cgi/transfer/environment.js'

export type SshCommand =
  /** No command: a user tests the key. */
  | { readonly kind: 'login' }
  /** A command of git; `repo` may end with `.git`. */
  | {
      readonly kind: 'git'
      readonly service: GitService
      readonly owner: string
      readonly repo: string
    }
  /** `git archive --remote`. */
  | { readonly kind: 'archive' }
  | { readonly kind: 'unknown' }

/** Maximum length, which exceeds that of any command with valid names. */
const COMMAND_CHARACTERS_MAX = 256

/** Command of git. Quotes and backslashes, which git escapes (quote.c), occur in no name. */
const GIT_COMMAND =
  /^git[ -](upload-pack|receive-pack|upload-archive) '\/?([A-Za-z0-9][\w.-]*)\/([A-Za-z0-9][\w.-]*)'$/

/** Reads SSH_ORIGINAL_COMMAND. Any text that is not exactly a command of git is `unknown`. */
export function parseCommand(text: string): SshCommand {
  if (text === '') return { kind: 'login' }
  const match = text.length > COMMAND_CHARACTERS_MAX ? null : GIT_COMMAND.exec(text)
  if (match === null) return { kind: 'unknown' }
  const [, name, owner = '', repo = ''] = match
  if (name === 'upload-archive') return { kind: 'archive' }
  const service = name === 'receive-pack' ? 'git-receive-pack' : 'git-upload-pack'
  return { kind: 'git', service, owner, repo }
}
