/** Approval of runs whose commits are of forks. */

import { Failure } from '../../conf/failures.js'
import { JOBS_USER_ID } from '../../sql/accounts/jobs-user.js'
import type { User } from '../../sql/accounts/users.js'
import { approve, type Run } from '../../sql/runs/runs.js'
import type { Context } from '../request/context.js'
import { changeRun } from './change-run.js'

/**
 * Approves a run: its jobs then wait for runners. Returns false if it needs no approval. Throws
 * `forbidden` for the account of jobs: a person decides.
 */
export async function approveRun(
  context: Context,
  { id }: Pick<Run, 'id'>,
  user: Pick<User, 'id'>,
): Promise<boolean> {
  if (user.id === JOBS_USER_ID) throw new Failure('forbidden', 'A job cannot approve runs.')
  return await changeRun(context, id, (trx) => approve(trx, id))
}
