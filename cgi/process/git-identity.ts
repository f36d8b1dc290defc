/** Upgrades of git while this process runs, by the state of its programs and its configuration. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Git } from './git.js'

/** Location of the programs whose answers are kept, and of their configuration. */
export type GitPrograms = Pick<Git, 'file' | 'execPath' | 'backend' | 'configFile'>

/** Time for which the files are not read again. */
const READ_EVERY_MS = 60_000

interface Read {
  readonly identity: string
  readonly readAtMs: number
}

const reads = new WeakMap<GitPrograms, Read>()

/** Returns a text that an upgrade of git changes, within a minute. */
export function gitIdentity(git: GitPrograms): string {
  const known = reads.get(git)
  const nowMs = Date.now()
  if (known !== undefined && nowMs - known.readAtMs < READ_EVERY_MS) return known.identity
  const files = [git.file, join(git.execPath, 'git'), git.backend, git.configFile]
  const identity = files.map(stateOf).join('\n')
  reads.set(git, { identity, readAtMs: nowMs })
  return identity
}

function stateOf(path: string): string {
  const state = statSync(path, { bigint: true, throwIfNoEntry: false })
  return state === undefined ? '' : `${state.ino} ${state.size} ${state.mtimeNs} ${state.ctimeNs}`
}

/**
 * Returns a function that returns git's identity. If the identity has changed since its last call,
 * it calls `forget`, which must remove the answers of the former git.
 */
export function watchIdentity(forget: () => void): (git: GitPrograms) => string {
  let last = ''
  return (git) => {
    const identity = gitIdentity(git)
    if (identity !== last) forget()
    last = identity
    return identity
  }
}
