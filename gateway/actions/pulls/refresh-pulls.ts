/** Refresh of pull requests: updates their rows and refs from the tips of their branches. */

import { findMergeBase, isAncestor } from '../../../cgi/objects/commit-range.js'
import { canMerge } from '../../../cgi/objects/merge.js'
import type { ObjectReader } from '../../../cgi/objects/objects.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
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

/** Pull request with the current state of its branches. */
export interface PullState extends IssueAndPull {
  /** Tips of the branches, as commits in the base repository; undefined for a deleted branch. */
  readonly headTip: string | undefined
  readonly baseTip: string | undefined
  /** True if the commits were pruned, after the removal of `refs/pull/N/head` of a closed one. */
  readonly isHeadLost: boolean
}

/**
 * Compares pull requests with the current tips of their branches. If a branch of an open one has
 * moved, updates `refs/pull/N/head` and checks again whether it can be merged. Completes a merge
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

/** Returns an error handler that logs a failed write of the disk and returns `present`. */
function orReadOnly<T>({ disk, log }: Context, present: T): (error: unknown) => T {
  return (error) => {
    const failure = diskFailureOf(error)
    if (failure === undefined) throw error
    disk.noteFailure(failure)
    log.warn({ error }, 'a pull request was not refreshed, because the disk failed')
    return present
  }
}

/** Returns the name of the ref with which the head of a pull request can be fetched. */
export function pullReference(number: number): string {
  return `refs/pull/${number}/head`
}

/** Returns the full ref name of a branch, even if its short name begins with `refs/`. */
export function branchReference(branch: string): string {
  return `refs/heads/${branch}`
}

interface Located {
  readonly state: PullState
  /** Commit of `refs/pull/N/head`. */
  readonly kept: string | undefined
  /** Tip of the head, if the base repository does not have its commit. */
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

/**
 * Copies the missing commits of an open pull request's head. If that fails, and for a closed one,
 * the last known head is used.
 */
async function withHead(
  context: Context,
  path: string,
  { state, kept, lacking }: Located,
): Promise<Located> {
  if (lacking === undefined) return { state, kept }
  const isOpen = state.issue.state === 'open'
  const hasCome =
    isOpen &&
    (await tryToCopyForeignCommit(context, {
      ...lacking,
      path,
      repositoryId: state.pull.repositoryId,
    }))
  const headTip = hasCome ? lacking.commit : state.pull.headCommit
  return { state: { ...state, headTip }, kept }
}

async function tipOf(objects: ObjectReader, name: string): Promise<string | undefined> {
  const found = await objects.read(`${name}^{commit}`)
  return found?.type === 'commit' ? found.id : undefined
}

/** Updates `refs/pull/N/head` of open pull requests. A conflict means a concurrent refresh. */
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
 * Returns true if the commits can be merged, and false also if the merge exceeds git's limits, so
 * that it is not attempted again on each read. Undefined after a timeout, which may not recur;
 * `cgi/objects/merge` permits another attempt after five minutes.
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

/** Marks a pull request as merged if a crash has interrupted its merge after the base moved. */
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
