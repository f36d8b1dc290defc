/** Atomic changes of references with expected old values, flushed to disk. */

import { join } from 'node:path'
import { Failure } from '../../conf/failures.js'
import { syncPath, unlessMissing } from '../../conf/lib/disk.js'
import { isReferenceName } from '../../conf/names.js'
import { type Journal, recordWriter } from '../maintenance/journal.js'
import { withObjects } from '../objects/with-objects.js'
import { firstLine, type Git, gitEnvironment, startGit } from '../process/git.js'
import { GIT_COMMAND_MS } from '../process/git-limits.js'
import { syncRepositoryNames } from '../repository/durable.js'
import { tryToMoveBranch } from './move-branch.js'

/** Change of a reference. */
export interface ReferenceChange {
  /** Full name, such as `refs/heads/main`. */
  readonly name: string
  /** Expected old id; undefined if the reference must not exist. */
  readonly before: string | undefined
  /** New id; undefined to delete the reference. */
  readonly after: string | undefined
}

export interface MoveOptions {
  /** Lists the move while it runs; an interrupted move stays listed until it is recovered. */
  readonly journal: Journal
}

/**
 * Changes references in one transaction and flushes them to disk. Throws `conflict` and changes
 * none if one has another id than expected, or if a name conflicts with another reference.
 */
export async function moveReferences(
  git: Git,
  path: string,
  changes: readonly ReferenceChange[],
  { journal }: MoveOptions,
): Promise<void> {
  const commands = Buffer.from(changes.map(commandOf).join(''))
  const [change, ...others] = changes
  if (others.length === 0 && (await movedHere(git, path, { change, journal }))) return
  const startedAtMs = Date.now()
  const words = ['update-ref', '--no-deref', '-z', '--stdin']
  const running = await startGit(git, 'read', [git.file, ...words], {
    cwd: path,
    environment: gitEnvironment(git, { config: [] }),
    timeoutMs: GIT_COMMAND_MS,
  })
  const strike = await recordWriter(journal, path, running, changes)
  void running.input.write(commands).then(() => running.input.end())
  for await (const _ of running.output) {
    // The output is empty on success.
  }
  const { exitCode, errorText } = await running.ended
  if (exitCode === 0) {
    // Git before 2.36 does not flush references.
    for (const { name } of changes) await unlessMissing(syncPath(join(path, name)))
    await syncRepositoryNames(path, startedAtMs)
  }
  await strike()
  if (exitCode !== 0) throw failureOf(firstLine(errorText))
}

interface OneMove extends MoveOptions {
  readonly change: ReferenceChange | undefined
}

/** Moves a branch without `git update-ref`; returns false if nothing was changed. */
async function movedHere(git: Git, path: string, { change, journal }: OneMove): Promise<boolean> {
  const { name = '', before, after } = change ?? {}
  if (before === undefined || after === undefined || !name.startsWith('refs/heads/')) return false
  const found = await withObjects(git, path, (objects) => objects.read(after))
  if (found?.type !== 'commit') return false
  const strike = await journal.record({ repositoryPath: path, pid: process.pid })
  return await tryToMoveBranch(path, { name, before, after }).finally(strike)
}

const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** Formats a command of `git update-ref --stdin -z` (git-update-ref(1)). */
function commandOf({ name, before, after }: ReferenceChange): string {
  const isNamed = name.startsWith('refs/') && isReferenceName(name.slice('refs/'.length))
  const areIds = [before, after].every((id) => id === undefined || ID.test(id))
  if (!isNamed || !areIds || (before ?? after) === undefined) {
    throw new Error('the change of a reference is not valid')
  }
  if (after === undefined) return `delete ${name}\0${before}\0`
  if (before === undefined) return `create ${name}\0${after}\0`
  return `update ${name}\0${after}\0${before}\0`
}

/** Message of a `conflict` after which the change may be tried again from the current id. */
export const REFERENCE_MOVED = 'The reference has changed meanwhile.'

/** Message of a `conflict` between the names `a` and `a/b`, which cannot both exist. */
export const NAME_CONFLICT = 'The name conflicts with the name of another reference.'

/** Message of a `conflict` after git has waited for a lock in vain. */
export const REFERENCE_HELD = 'Another process is changing the reference.'

const MOVED = /: is at [0-9a-f]+ but expected |reference already exists|unable to resolve reference/
const IN_THE_WAY = /exists; cannot create|cannot process '|non-empty directory|Not a directory/
const LOCKED = /\.lock': File exists/

function failureOf(complaint: string): Error {
  const cause = new Error(`git update-ref: ${complaint}`)
  if (MOVED.test(complaint)) {
    return new Failure('conflict', REFERENCE_MOVED, { cause })
  }
  if (IN_THE_WAY.test(complaint)) {
    return new Failure('conflict', NAME_CONFLICT, { cause })
  }
  if (LOCKED.test(complaint)) {
    return new Failure('conflict', REFERENCE_HELD, { cause })
  }
  return cause
}
