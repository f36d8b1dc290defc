/** What a client asks over SSH: git's three commands with one quoted argument, or nothing. */

import type { GitService } from '../../cgi/transfer/environment.js'

export type SshCommand =
  /** Nothing: somebody wants to see whether the key works. */
  | { readonly kind: 'login' }
  /** `repo` as it was sent, with or without `.git`. */
  | {
      readonly kind: 'git'
      readonly service: GitService
      readonly owner: string
      readonly repo: string
    }
  /** `git archive --remote`. */
  | { readonly kind: 'archive' }
  | { readonly kind: 'unknown' }

/** Longer than any name that there can be, with all that stands around it. */
const COMMAND_CHARACTERS_MAX = 256

/** What git quotes (quote.c) and no name holds, a quote or a backslash, does not match. */
const GIT_COMMAND =
  /^git[ -](upload-pack|receive-pack|upload-archive) '\/?([A-Za-z0-9][\w.-]*)\/([A-Za-z0-9][\w.-]*)'$/

/** Reads SSH_ORIGINAL_COMMAND. What is not exactly a command of git's is `unknown`. */
export function parseCommand(text: string): SshCommand {
  if (text === '') return { kind: 'login' }
  const match = text.length > COMMAND_CHARACTERS_MAX ? null : GIT_COMMAND.exec(text)
  if (match === null) return { kind: 'unknown' }
  const [, name, owner = '', repo = ''] = match
  if (name === 'upload-archive') return { kind: 'archive' }
  const service = name === 'receive-pack' ? 'git-receive-pack' : 'git-upload-pack'
  return { kind: 'git', service, owner, repo }
}
