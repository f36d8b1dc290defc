/** Whether the checks of a commit have succeeded, and the merges that wait for that. */

import {
  COMMIT_STATES,
  type CommitPlace,
  type CommitState,
  combineCommitStatuses,
} from '../../../sql/code/commit-statuses.js'
import { listMergesOf } from '../../../sql/pulls/scheduled-merges.js'
import type { Context } from '../../request/context.js'

/** Where nothing was said yet, nothing has succeeded. */
export async function haveChecksSucceeded(
  { db }: Pick<Context, 'db'>,
  place: CommitPlace,
): Promise<boolean> {
  const { states } = await combineCommitStatuses(db, place, { page: 1, limit: 1 })
  return worstStateOf(states) === 'success'
}

/** To be called when something was said of a commit: what waits for it is looked at again. */
export async function statusReported(
  { db, upkeep }: Pick<Context, 'db' | 'upkeep'>,
  place: CommitPlace,
): Promise<void> {
  for (const pullId of await listMergesOf(db, place)) await upkeep.enqueueMerge(pullId)
}

/** Returns the most severe of the states, or `pending` if there is none. */
export function worstStateOf(states: readonly CommitState[]): CommitState {
  if (states.length === 0) return 'pending'
  const worst = COMMIT_STATES.find((state) => states.includes(state)) ?? 'pending'
  return worst === 'skipped' ? 'success' : worst
}
