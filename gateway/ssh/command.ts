/** Parser of the command of an SSH client: one of git or git-lfs, or none. */

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
  /** The request of git-lfs for a ticket. */
  | {
      readonly kind: 'lfs'
      readonly operation: 'download' | 'upload'
      readonly owner: string
      readonly repo: string
    }
  /** Objects of Git LFS over SSH, which git-lfs tries before it requests a ticket. */
  | { readonly kind: 'lfs-transfer' }
  /** `git archive --remote`. */
  | { readonly kind: 'archive' }
  | { readonly kind: 'unknown' }

/** Maximum length, which exceeds that of any command with valid names. */
const COMMAND_CHARACTERS_MAX = 256

/** Command of git. Quotes and backslashes, which git escapes (quote.c), occur in no name. */
const GIT_COMMAND =
  /^git[ -](upload-pack|receive-pack|upload-archive) '\/?([A-Za-z0-9][\w.-]*)\/([A-Za-z0-9][\w.-]*)'$/

/** Command of git-lfs, which does not quote the path. The id of an object may follow. */
const LFS_COMMAND =
  /^git-lfs-(authenticate|transfer) ('?)\/?([A-Za-z0-9][\w.-]*)\/([A-Za-z0-9][\w.-]*)\2 (download|upload)(?: [0-9a-f]{64})?$/

/**
 * Reads SSH_ORIGINAL_COMMAND. Any text that is not exactly a command of git or git-lfs is
 * `unknown`.
 */
export function parseCommand(text: string): SshCommand {
  if (text === '') return { kind: 'login' }
  if (text.length > COMMAND_CHARACTERS_MAX) return { kind: 'unknown' }
  const match = GIT_COMMAND.exec(text)
  if (match === null) return parseLfsCommand(text)
  const [, name, owner = '', repo = ''] = match
  if (name === 'upload-archive') return { kind: 'archive' }
  const service = name === 'receive-pack' ? 'git-receive-pack' : 'git-upload-pack'
  return { kind: 'git', service, owner, repo }
}

function parseLfsCommand(text: string): SshCommand {
  const [match, name, , owner = '', repo = '', operation] = LFS_COMMAND.exec(text) ?? []
  if (match === undefined) return { kind: 'unknown' }
  if (name === 'transfer') return { kind: 'lfs-transfer' }
  return { kind: 'lfs', operation: operation === 'upload' ? 'upload' : 'download', owner, repo }
}
