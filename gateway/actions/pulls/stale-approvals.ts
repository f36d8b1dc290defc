/** Approvals of what the head of a pull request was before somebody pushed to it. */

import type { Pull } from '../../../sql/pulls/pulls.js'
import { dismissApprovals } from '../../../sql/pulls/reviews.js'
import type { Context } from '../../request/context.js'
import { readBranchRules } from '../code/branch-rules.js'

/** The head has moved: approvals of other commits are dismissed, where the rule says so. */
export async function dismissStaleApprovals(
  { db }: Pick<Context, 'db'>,
  pull: Pull,
  head: string,
): Promise<void> {
  const rule = (await readBranchRules(db, pull.repositoryId))(pull.baseBranch)
  if (rule?.settings.dismiss_stale_approvals) await dismissApprovals(db, pull.id, head)
}
