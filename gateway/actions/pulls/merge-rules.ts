/** Requirements of branch rules for merges of pull requests. */

import { isAncestor } from '../../../cgi/objects/commit-range.js'
import { Failure } from '../../../conf/failures.js'
import { findUserById, type User } from '../../../sql/accounts/users.js'
import type { Protection } from '../../../sql/code/branch-protections.js'
import { combineCommitStatuses } from '../../../sql/code/commit-statuses.js'
import type { Pull } from '../../../sql/pulls/pulls.js'
import { listVerdicts, type Review } from '../../../sql/pulls/reviews.js'
import { atLeast } from '../../../sql/repositories/access.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { firstMatching, pathsBetween } from '../code/branch-judge.js'
import { actorOf, isOfficialReviewer, mayMerge, readBranchRules } from '../code/branch-rules.js'
import { contextTest } from '../code/commit-checks.js'
import { findUnsignedCommit } from '../code/unsigned-commits.js'
import type { PullState } from './refresh-pulls.js'

export interface MergeInput {
  readonly repository: Repository
  readonly doer: User
  /** True to skip the requirements, which administrators can unless the rule forbids it. */
  readonly isForced: boolean
}

/** Throws `method_not_allowed` if the rule of the base does not permit the merge now. */
export async function refuseRuledMerge(
  context: Context,
  state: PullState,
  input: MergeInput,
): Promise<void> {
  const { repository, doer, isForced } = input
  const rule = (await readBranchRules(context.db, repository.id))(state.pull.baseBranch)
  if (rule === undefined) return
  const actor = await actorOf(context.db, repository, doer)
  if (!mayMerge(rule, actor)) throw notAllowed()
  const isOverridden = isForced && !rule.settings.block_admin_merge_override
  if (isOverridden && atLeast(actor.mode, 'admin')) return
  const obstacle = await findObstacle(context, state, { repository, rule })
  if (obstacle === undefined) return
  throw new Failure('method_not_allowed', `not allowed to merge [reason: ${obstacle}]`)
}

/**
 * Throws `method_not_allowed` if the rule of the base requires signatures and the merge adds a
 * commit without one, as each merge does that makes a commit: the server does not sign.
 */
export async function refuseUnsignedMerge(
  context: Context,
  { baseBranch, repositoryId }: Pull,
  {
    path,
    before,
    after,
  }: { readonly path: string; readonly before: string; readonly after: string },
): Promise<void> {
  const rule = (await readBranchRules(context.db, repositoryId))(baseBranch)
  if (!rule?.settings.require_signed_commits) return
  const unsigned = await findUnsignedCommit(context, path, { before, after })
  if (unsigned === undefined) return
  throw new Failure(
    'method_not_allowed',
    `not allowed to merge [reason: branch ${baseBranch} ${unsigned}]`,
  )
}

/** Throws `method_not_allowed` if the rule of the base does not permit this user to merge. */
export async function refuseMerger(
  { db }: Context,
  { baseBranch }: Pull,
  { repository, doer }: Pick<MergeInput, 'repository' | 'doer'>,
): Promise<void> {
  const rule = (await readBranchRules(db, repository.id))(baseBranch)
  if (rule === undefined || mayMerge(rule, await actorOf(db, repository, doer))) return
  throw notAllowed()
}

function notAllowed(): Failure {
  return new Failure('method_not_allowed', 'User not allowed to merge PR')
}

interface Ruled {
  readonly repository: Repository
  readonly rule: Protection
}

/** Returns the first unmet requirement of the rule, in Gitea's words; undefined if none. */
async function findObstacle(
  context: Context,
  state: PullState,
  ruled: Ruled,
): Promise<string | undefined> {
  const { settings } = ruled.rule
  if (settings.enable_status_check && !(await hasGoodStatuses(context, state, ruled))) {
    return 'Not all required status checks successful'
  }
  const reviews = await officialReviews(context, state, ruled)
  const approvals = reviews.filter((review) => isApproval(review, state, ruled.rule))
  if (approvals.length < settings.required_approvals) return 'Does not have enough approvals'
  if (settings.block_on_rejected_reviews && hasState(reviews, 'REQUEST_CHANGES')) {
    return 'There are requested changes'
  }
  if (settings.block_on_official_review_requests && hasState(reviews, 'REQUEST_REVIEW')) {
    return 'There are official review requests'
  }
  const { git } = context
  const path = repositoryPathOf(context, ruled.repository)
  const head = headOf(state)
  if (settings.block_on_outdated_branch && state.baseTip !== undefined) {
    const range = { older: state.baseTip, younger: head }
    if (!(await isAncestor(git, path, range))) return 'The head branch is behind the base branch'
  }
  if (settings.protected_file_patterns.trim() === '') return undefined
  const files = await pathsBetween(git, path, { from: state.pull.mergeBase, to: head })
  const isProtected =
    files === undefined ||
    (await firstMatching(settings.protected_file_patterns, files)) !== undefined
  return isProtected ? 'Changed protected files' : undefined
}

function headOf({ headTip, pull }: PullState): string {
  return headTip ?? pull.headCommit
}

/**
 * Returns true if each required context has a status, and all statuses of these contexts are good.
 * Without required contexts, at least one status must exist and all must be good.
 */
async function hasGoodStatuses(
  { db }: Context,
  state: PullState,
  { repository, rule }: Ruled,
): Promise<boolean> {
  const place = { repositoryId: repository.id, commitId: headOf(state) }
  const { entries } = await combineCommitStatuses(db, place, { page: 1, limit: CONTEXTS_MAX })
  const wanted = rule.settings.status_check_contexts
  const groups =
    wanted.length === 0
      ? [entries]
      : wanted.map((required) => {
          const fits = contextTest(required)
          return entries.filter(({ context }) => fits(context))
        })
  return groups.every(
    (group) => group.length > 0 && group.every(({ state }) => GOOD_STATES.has(state)),
  )
}

const CONTEXTS_MAX = 10_000
const GOOD_STATES: ReadonlySet<string> = new Set(['success', 'skipped'])

/** Returns the verdicts of official reviewers and the requests to them, if the rule needs any. */
async function officialReviews(
  { db }: Context,
  { pull }: PullState,
  { repository, rule }: Ruled,
): Promise<readonly Review[]> {
  const { settings } = rule
  const isNeeded =
    settings.required_approvals > 0 ||
    settings.block_on_rejected_reviews ||
    settings.block_on_official_review_requests
  if (!isNeeded) return []
  const official: Review[] = []
  for (const review of await listVerdicts(db, pull.id)) {
    const reviewer = await findUserById(db, review.reviewerId ?? 0)
    if (reviewer === undefined) continue
    const actor = await actorOf(db, repository, reviewer)
    if (isOfficialReviewer(rule, actor)) official.push(review)
  }
  return official
}

function isApproval(review: Review, state: PullState, { settings }: Protection): boolean {
  if (review.state !== 'APPROVED') return false
  const isStale = review.commitId !== headOf(state)
  return !isStale || !(settings.ignore_stale_approvals || settings.dismiss_stale_approvals)
}

function hasState(reviews: readonly Review[], state: Review['state']): boolean {
  return reviews.some((review) => review.state === state)
}

/** Returns true if reviews of the user count for pull requests into the base branch. */
export async function isOfficialFor(
  { db }: Context,
  { baseBranch }: Pick<Pull, 'baseBranch'>,
  { repository, reviewer }: { readonly repository: Repository; readonly reviewer: User },
): Promise<boolean> {
  const rule = (await readBranchRules(db, repository.id))(baseBranch)
  return isOfficialReviewer(rule, await actorOf(db, repository, reviewer))
}
