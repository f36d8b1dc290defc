/** Stale approvals: those of earlier heads of a pull request. */

import type { Pull } from '../../../sql/pulls/pulls.js'
import { dismissApprovals } from '../../../sql/pulls/reviews.js'
import type { Context } from '../../request/context.js'
import { readBranchRules } from '../code/branch-rules.js'

/** Dismisses approvals of other commits than `head`, if the rule of the base requires that. */
export async function dismissStaleApprovals(
  { db }: Pick<Context, 'db'>,
  pull: Pull,
  head: string,
): Promise<void> {
  const rule = (await readBranchRules(db, pull.repositoryId))(pull.baseBranch)
  if (rule?.settings.dismiss_stale_approvals) await dismissApprovals(db, pull.id, head)
}
