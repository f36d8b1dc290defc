/** Checks of a commit: their combined state, and the merges that wait for it. */

import { parseGlob } from '../../../conf/lib/glob.js'
import {
  COMMIT_STATES,
  type CommitPlace,
  type CommitState,
  combineCommitStatuses,
} from '../../../sql/code/commit-statuses.js'
import { listMergesOf } from '../../../sql/pulls/scheduled-merges.js'
import type { Context } from '../../request/context.js'
import type { StatusReported } from '../../request/events.js'

/** Returns true if the combined state is `success`; false if no status was reported. */
export async function haveChecksSucceeded(
  { db }: Pick<Context, 'db'>,
  place: CommitPlace,
): Promise<boolean> {
  const { states } = await combineCommitStatuses(db, place, { page: 1, limit: 1 })
  return worstStateOf(states) === 'success'
}

/** Retries the merges that wait for a commit with a new status, and publishes the status. */
export async function statusReported(
  context: Context,
  report: Omit<StatusReported, 'kind'>,
): Promise<void> {
  const { repository, status } = report
  await retryMerges(context, { repositoryId: repository.id, commitId: status.commitId })
  await context.events.publish({ kind: 'status_reported', ...report })
}

/** Retries the merges that wait for the checks of a commit. */
export async function retryMerges(context: Context, place: CommitPlace): Promise<void> {
  for (const pullId of await listMergesOf(context.db, place)) {
    await context.upkeep.enqueueMerge(pullId)
  }
}

/**
 * Returns the most severe of the states, or `pending` if there is none. As in Gitea, a warning is a
 * success.
 */
export function worstStateOf(states: readonly CommitState[]): CommitState {
  if (states.length === 0) return 'pending'
  const worst = COMMIT_STATES.find((state) => state !== 'warning' && states.includes(state))
  return worst === undefined || worst === 'skipped' ? 'success' : worst
}

/** Returns a function that is true for the contexts that a required context, or pattern, fits. */
export function contextTest(required: string): (context: string) => boolean {
  const fits = parseGlob(required)
  return (context) => context === required || fits?.(context) === true
}
