/** Completes updates of several refs that a crash has interrupted after some of them. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isFailure } from '../../conf/failures.js'
import { unlessMissing } from '../../conf/lib/disk.js'
import type { Log } from '../../conf/log.js'
import { isReferenceName } from '../../conf/names.js'
import type { Journal, JournalEntry } from '../maintenance/journal.js'
import { findGit, type Git, gitEnvironment, runGitToEnd } from '../process/git.js'
import { gitRecords } from '../process/git-output.js'
import { completeChangeNote, type PushedChange } from './pushed-changes.js'
import { moveReferences, REFERENCE_HELD } from './references.js'
import { readUpdateList } from './update-list.js'

/** Timeout of the connectivity check of an interrupted push during crash recovery. */
const CONNECTIVITY_MS = 600_000

/**
 * Completes an interrupted push, so that all of its refs have changed or none. If git has changed
 * none of them, does nothing. Otherwise changes each of the others that still has its old id. A
 * rollback could undo a later push of another client to the same ref. Throws if git fails for a
 * reason other than the state of the refs; the caller can then try again.
 */
export async function completeUpdates(entry: JournalEntry, log: Log | undefined): Promise<void> {
  const { updates, repositoryPath: path } = entry
  if (updates === undefined) return
  const listed = updates.change ? [updates.change] : await readUpdateList(updates.file)
  if (listed === undefined) return
  const head = await unlessMissing(readFile(join(path, 'HEAD'), 'utf8'))
  // The repository has been deleted.
  if (head === undefined) return
  const git = await findGit()
  const allowed = updates.writer === 'git' ? listed.filter(isAllowed(head)) : listed
  const found = await compareRefs(git, path, allowed)
  if (found.applied.length === 0) return
  const { pending } = found
  if (pending.length > 0 && (await areWhole(git, path, pending))) {
    await applyUpdates(git, path, pending)
  }
  const { applied, ...left } = await compareRefs(git, path, allowed)
  if (updates.changeNote !== undefined) await completeChangeNote(updates.changeNote, applied)
  if (pending.length === 0) return
  const names = [...left.pending, ...left.moved].map(({ name }) => name)
  const counts = { refs: listed.length, before: found.applied.length, after: applied.length }
  log?.warn({ path, ...counts, left: names }, 'interrupted push completed')
}

/** Refs that clients may push (`transfer.hideRefs` in conf/git.config). */
const PUSHABLE = /^refs\/(?:heads|tags|notes)\//

/**
 * Selects the updates that git would accept. The hook writes its list before git has checked the
 * names and refused the deletion of the default branch, which the file HEAD names.
 */
function isAllowed(head: string): (update: PushedChange) => boolean {
  return ({ name, after }) =>
    PUSHABLE.test(name) &&
    isReferenceName(name.slice('refs/'.length)) &&
    !name.includes('\ufffd') &&
    (after !== undefined || head.trim() !== `ref: ${name}`)
}

interface Comparison {
  /** Updates whose ref has its new id. */
  readonly applied: readonly PushedChange[]
  /** Updates whose ref still has its old id. */
  readonly pending: readonly PushedChange[]
  /** Updates whose ref has another id, from a later push. */
  readonly moved: readonly PushedChange[]
}

async function compareRefs(
  git: Git,
  path: string,
  updates: readonly PushedChange[],
): Promise<Comparison> {
  const current = new Map<string, string>()
  const args = ['for-each-ref', '--format=%(objectname) %(refname)']
  for await (const record of gitRecords(git, args, { cwd: path, separator: '\n' })) {
    const at = record.indexOf(' ')
    current.set(record.slice(at + 1), record.slice(0, at))
  }
  const isApplied = ({ name, after }: PushedChange) => current.get(name) === after
  const isPending = ({ name, before }: PushedChange) => current.get(name) === before
  const others = updates.filter((update) => !isApplied(update))
  return {
    applied: updates.filter(isApplied),
    pending: others.filter(isPending),
    moved: others.filter((update) => !isPending(update)),
  }
}

/** Returns true if the repository has all objects that the updates need, as git checks a push. */
async function areWhole(
  git: Git,
  path: string,
  updates: readonly PushedChange[],
): Promise<boolean> {
  const ids = updates.flatMap(({ after }) => (after === undefined ? [] : [`${after}\n`]))
  if (ids.length === 0) return true
  const args = ['rev-list', '--objects', '--quiet', '--stdin', '--not', '--all']
  const { exitCode } = await runGitToEnd(git, 'push', args, {
    cwd: path,
    input: ids.join(''),
    environment: gitEnvironment(git, { config: [] }),
    timeoutMs: CONNECTIVITY_MS,
    outputBytesMax: 4_096,
  })
  return exitCode === 0
}

/** Applies the updates in one transaction, or in sequence if git refuses some, as in a push. */
async function applyUpdates(
  git: Git,
  path: string,
  updates: readonly PushedChange[],
): Promise<void> {
  const move = async (changes: readonly PushedChange[]): Promise<boolean> => {
    try {
      await moveReferences(git, path, changes, { journal: RECORDED_ALREADY })
      return true
    } catch (error) {
      if (!isRefusal(error)) throw error
      return false
    }
  }
  if (await move(updates)) return
  for (const update of updates) await move([update])
}

/** Journal that records nothing, because the push already has an entry. */
const RECORDED_ALREADY: Journal = { record: async () => async () => {} }

/** Returns true for refusals, and false for transient errors: a lock, a full disk, a killed git. */
function isRefusal(error: unknown): boolean {
  if (isFailure(error, 'conflict')) return error.message !== REFERENCE_HELD
  return /non-commit object|nonexistent object/.test(String(error))
}
