/** Finds the run that the path of a page names. */

import { notFound } from '../../../conf/failures.js'
import { findRun, type Run } from '../../../sql/runs/runs.js'
import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import { readId } from '../../auth/refusals.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'

/** Returns the run. Throws `not_found` if it does not exist or if the repository has no Actions. */
export async function runOfPath(
  context: Context,
  { grant: { repository }, params }: Pick<Call<'repository'>, 'grant' | 'params'>,
): Promise<Run> {
  refuseWithoutActions(context, repository)
  const run = await findRun(context.db, repository.id, readId(params['number'] ?? '') ?? 0)
  if (run === undefined) throw notFound()
  return run
}
