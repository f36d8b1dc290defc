/** Brings what is remembered of pull requests up to what the repository has now. */

import { findMergeBase, isAncestor } from '../../../cgi/objects/commit-range.js'
import { canMerge } from '../../../cgi/objects/merge.js'
import { type ObjectReader, withObjects } from '../../../cgi/objects/objects.js'
import { moveReferences, type ReferenceChange } from '../../../cgi/refs/references.js'
import { diskFailureOf } from '../../../conf/disk-failure.js'
import { isFailure } from '../../../conf/failures.js'
import { type IssueAndPull, markMerged, updatePull } from '../../../sql/pulls/pulls.js'
import { cancelScheduledMerge } from '../../../sql/pulls/scheduled-merges.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import {
  type ForeignTip,
  findForeignTips,
  isForeign,
  tryToCopyForeignCommit,
} from './foreign-heads.js'
import { dismissStaleApprovals } from './stale-approvals.js'

/** A pull request and where its branches are. */
export interface PullState extends IssueAndPull {
  /** Tips of the branches, whose commits the base has; undefined for one that has gone. */
  readonly headTip: string | undefined
  readonly baseTip: string | undefined
  /** Its commits were pruned: it is closed, and its head was removed from `refs/pull/`. */
  readonly isHeadLost: boolean
}

/**
 * Compares pull requests with the present tips of their branches. If the head of an open one has
 * moved, moves `refs/pull/N/head` and finds out again whether it can be merged. Completes a merge
 * that a crash interrupted.
 */
export async function refreshPulls(
  context: Context,
  repository: Repository,
  entries: readonly IssueAndPull[],
): Promise<readonly PullState[]> {
  if (entries.length === 0) return []
  const { git, settings } = context
  const path = repositoryPathOf({ settings }, repository)
  const tips = await findForeignTips(context, entries)
  const located = await withObjects(git, path, (objects) =>
    Promise.all(entries.map((entry) => locate(objects, entry, tips.get(entry.pull.id)))),
  )
  const found: Located[] = []
  for (const each of located) found.push(await withHead(context, path, each))
  await moveHeads(context, path, found).catch(orReadOnly(context, undefined))
  const states: PullState[] = []
  for (const { state } of found) {
    states.push(await refresh(context, path, state).catch(orReadOnly(context, state)))
  }
  return states
}

/** Returns a handler that keeps to `present` where the disk has no room for what is new. */
function orReadOnly<T>({ disk, log }: Context, present: T): (error: unknown) => T {
  return (error) => {
    const failure = diskFailureOf(error)
    if (failure === undefined) throw error
    disk.noteFailure(failure)
    log.warn({ error }, 'a pull request was not brought up to date')
    return present
  }
}

/** The name under which the head of a pull request can be fetched. */
export function pullReference(number: number): string {
  return `refs/pull/${number}/head`
}

/** The full name of a branch, whatever it is called. */
export function branchReference(branch: string): string {
  return `refs/heads/${branch}`
}

interface Located {
  readonly state: PullState
  /** Where `refs/pull/N/head` is. */
  readonly kept: string | undefined
  /** The head, where the base lacks it. */
  readonly lacking?: ForeignTip | undefined
}

async function locate(
  objects: ObjectReader,
  entry: IssueAndPull,
  foreign: ForeignTip | undefined,
): Promise<Located> {
  const { issue, pull } = entry
  const head = isForeign(entry) ? foreign?.commit : branchReference(pull.headBranch)
  const [headTip, baseTip, kept] = await Promise.all(
    [head, branchReference(pull.baseBranch), pullReference(issue.number)].map((name) =>
      name === undefined ? undefined : tipOf(objects, name),
    ),
  )
  const lacking = headTip === undefined ? foreign : undefined
  const isKept = kept !== undefined || issue.state === 'open'
  const isHeadLost = !isKept && (await tipOf(objects, pull.headCommit)) === undefined
  return { state: { ...entry, headTip, baseTip, isHeadLost }, kept, lacking }
}

/** Brings what an open one lacks of its head; what cannot be had now leaves it where it was. */
async function withHead(
  context: Context,
  path: string,
  { state, kept, lacking }: Located,
): Promise<Located> {
  if (lacking === undefined) return { state, kept }
  const isOpen = state.issue.state === 'open'
  const hasCome = isOpen && (await tryToCopyForeignCommit(context, { ...lacking, path }))
  const headTip = hasCome ? lacking.commit : state.pull.headCommit
  return { state: { ...state, headTip }, kept }
}

async function tipOf(objects: ObjectReader, name: string): Promise<string | undefined> {
  const found = await objects.read(`${name}^{commit}`)
  return found?.type === 'commit' ? found.id : undefined
}

/** Those of the open ones; should somebody else do the same just now, it is done. */
async function moveHeads(
  { git, journal }: Context,
  path: string,
  found: readonly Located[],
): Promise<void> {
  const changes = found.flatMap(({ state, kept }): readonly ReferenceChange[] => {
    const { issue, headTip } = state
    if (issue.state !== 'open' || headTip === undefined || headTip === kept) return []
    return [{ name: pullReference(issue.number), before: kept, after: headTip }]
  })
  if (changes.length === 0) return
  try {
    await moveReferences(git, path, changes, { journal })
  } catch (error) {
    if (!isFailure(error, 'conflict')) throw error
  }
}

async function refresh(context: Context, path: string, state: PullState): Promise<PullState> {
  const { issue, pull, baseTip } = state
  if (issue.state !== 'open' || pull.mergedAtMs !== undefined || baseTip === undefined) return state
  const merged = await finishMerge(context, path, state)
  if (merged !== undefined) return merged
  const head = state.headTip ?? pull.headCommit
  if (pull.checked.base === baseTip && pull.checked.head === head) return state
  const { git, db } = context
  if (head !== pull.headCommit) await dismissStaleApprovals(context, pull, head)
  const tips = { base: baseTip, head }
  const mergeBase = (await findMergeBase(git, path, [baseTip, head])) ?? baseTip
  const isMergeable = await findMergeable(context, path, { ...tips, pullId: pull.id })
  const checked = { ...tips, isMergeable: isMergeable ?? false }
  const patch = { headCommit: head, mergeBase, checked }
  // The merge was scheduled for the earlier head.
  if (head !== pull.headCommit) await cancelScheduledMerge(db, pull.id)
  await updatePull(db, pull.id, {
    ...patch,
    checked: isMergeable === undefined ? undefined : checked,
  })
  return { ...state, pull: { ...pull, ...patch } }
}

/**
 * Whether the two can be merged. What git cannot find out within its limits is kept as a no, so no
 * reader makes git try again. Undefined: git had not the time, which another attempt may have;
 * `cgi/objects/merge` allows one every five minutes.
 */
async function findMergeable(
  { git, log }: Context,
  path: string,
  tips: { readonly base: string; readonly head: string; readonly pullId: number },
): Promise<boolean | undefined> {
  try {
    return await canMerge(git, path, tips)
  } catch (error) {
    if (isFailure(error, 'unavailable')) return undefined
    if (!isFailure(error, 'payload_too_large')) throw error
    log.warn({ ...tips, path, error }, 'a pull request is too large to be merged')
    return false
  }
}

/** A merge that moved the branch and was cut off before the database heard of it. */
async function finishMerge(
  { git, db }: Context,
  path: string,
  state: PullState,
): Promise<PullState | undefined> {
  const { issue, pull, baseTip } = state
  const { mergeCommit, mergedById } = pull
  if (mergeCommit === undefined || baseTip === undefined) return undefined
  if (!(await isAncestor(git, path, { older: mergeCommit, younger: baseTip }))) return undefined
  await markMerged(db, pull, { mergeCommit, mergedById })
  const mergedAtMs = Date.now()
  return {
    ...state,
    issue: { ...issue, state: 'closed', closedAtMs: mergedAtMs },
    pull: { ...pull, mergedAtMs },
  }
}
