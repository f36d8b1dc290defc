/** Merge of a pull request: checks, the merge itself, events, removal of the head branch. */

import { isAncestor } from '../../../cgi/objects/commit-range.js'
import { findMergeRefusal, MERGE_CONFLICT, type MergeStyle } from '../../../cgi/objects/merge.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { Failure } from '../../../conf/failures.js'
import { findUserById, type User } from '../../../sql/accounts/users.js'
import { markMerged } from '../../../sql/pulls/pulls.js'
import { atLeast } from '../../../sql/repositories/access.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { actingUserOf } from '../code/acting-user.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { issueChanged } from '../issues/issue-changed.js'
import { isDraft } from './find-pull.js'
import { mergePull, removeHeadBranch } from './merge-pull.js'
import { refuseMerger, refuseRuledMerge } from './merge-rules.js'
import type { PullState } from './refresh-pulls.js'
import { findWritableHead } from './writable-head.js'

export interface MergeOptions {
  /** Style; `manually-merged` only records a merge that was pushed. */
  readonly style: MergeStyle | 'manually-merged'
  /** Title of the merge commit; empty for the default. */
  readonly title: string
  readonly message: string
  /** Expected head commit; absent to accept any. */
  readonly headCommit?: string | undefined
  /** Id of the pushed commit of the style `manually-merged`. */
  readonly mergeCommit?: string | undefined
  /** True if the head branch is removed afterwards; absent for the repository's preference. */
  readonly deletesBranch?: boolean | undefined
  /** See `MergeInput` in merge-rules.ts. */
  readonly isForced?: boolean
}

export interface MergeRequest {
  readonly state: PullState
  readonly doer: User
  readonly order: MergeOptions
  readonly inQueue: (work: () => Promise<void>) => Promise<void>
}

/** Merges and publishes the change. Throws if the merge is refused. */
export async function mergeNow(
  context: Context,
  grant: RepositoryGrant,
  { state, doer, order, inQueue }: MergeRequest,
): Promise<void> {
  refuseMerge(grant, state, order)
  const { repository } = grant
  const { style, title, message: body, isForced } = order
  if (style === 'manually-merged') {
    await refuseMerger(context, state.pull, { repository, doer })
    await recordManualMerge(context, grant, { state, doer, commitId: order.mergeCommit ?? '' })
  } else {
    const author = await authorOf(context, state)
    const message = { title, body }
    await inQueue(() =>
      mergePull(context, state, { repository, doer, style, message, author, isForced }),
    )
  }
  const { issue, pull } = state
  await issueChanged(context, { repository, issue, actor: doer, actions: ['closed'] })
  if (!deletesBranch(repository, order)) return
  const head = await findWritableHead(context, grant, pull)
  if (head !== undefined) await removeHeadBranch(context, state, { head, doer })
}

/** True if the head branch is removed after the merge. */
export function deletesBranch(
  { preferences }: Repository,
  order: Pick<MergeOptions, 'deletesBranch'>,
): boolean {
  return order.deletesBranch ?? preferences['default_delete_branch_after_merge'] === true
}

/**
 * Returns the message of the error with which a merge would be refused now; undefined if no
 * obstacle is known.
 */
export async function findMergeObstacle(
  context: Context,
  grant: RepositoryGrant,
  state: PullState,
): Promise<string | undefined> {
  const { repository } = grant
  try {
    refuseAnyMerge(grant, state)
    const doer = actingUserOf(grant)
    await refuseRuledMerge(context, state, { repository, doer, isForced: false })
  } catch (error) {
    if (error instanceof Failure && error.status < 500) return error.message
    throw error
  }
  const { pull, baseTip: base, headTip: head = pull.headCommit } = state
  if (base === undefined) return 'The base branch does not exist.'
  if (pull.checked.isMergeable) return undefined
  return (
    findMergeRefusal(repositoryPathOf(context, grant.repository), { base, head }) ?? MERGE_CONFLICT
  )
}

/** Throws if the pull request cannot be merged, or not in that style or at that head. */
export function refuseMerge(
  grant: RepositoryGrant,
  state: PullState,
  { style, headCommit }: Pick<MergeOptions, 'style' | 'headCommit'>,
): void {
  refuseAnyMerge(grant, state)
  const { pull, headTip } = state
  if (headCommit !== undefined && headCommit !== (headTip ?? pull.headCommit)) {
    throw new Failure('conflict', 'head out of date')
  }
  const { id } = grant.repository
  if (allows(grant.repository, style)) return
  throw new Failure(
    'method_not_allowed',
    `merge strategy is not allowed or is not a valid strategy [repo_id: ${id}, strategy: ${style}]`,
  )
}

function refuseAnyMerge(grant: RepositoryGrant, { issue, pull }: PullState): void {
  if (pull.mergedAtMs !== undefined) {
    throw new Failure('method_not_allowed', 'The pull request is already merged.')
  }
  if (issue.state === 'closed') throw new Failure('not_found', 'The pull request is closed.')
  if (!atLeast(grant.modes.code, 'write')) {
    throw new Failure('method_not_allowed', 'User not allowed to merge PR')
  }
  if (isDraft(issue.title)) {
    throw new Failure('method_not_allowed', 'Work in progress PRs cannot be merged')
  }
}

/** Preferences of a repository that permit each style. */
const PREFERENCES: Readonly<Record<MergeOptions['style'], string>> = {
  merge: 'allow_merge_commits',
  rebase: 'allow_rebase',
  'rebase-merge': 'allow_rebase_explicit',
  squash: 'allow_squash_merge',
  'fast-forward-only': 'allow_fast_forward_only_merge',
  'manually-merged': 'allow_manual_merge',
}

/** True if the preferences of a repository permit the style. */
export function allows({ preferences }: Repository, style: MergeOptions['style']): boolean {
  const preference = preferences[PREFERENCES[style]]
  return style === 'manually-merged' ? preference === true : preference !== false
}

interface ManualMerge {
  readonly state: PullState
  readonly doer: User
  readonly commitId: string
}

/** Records a merge that was pushed. Throws `conflict` if the base does not have the commit. */
async function recordManualMerge(
  context: Context,
  grant: RepositoryGrant,
  { state: { pull, baseTip }, doer, commitId }: ManualMerge,
): Promise<void> {
  const path = repositoryPathOf(context, grant.repository)
  const isId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(commitId)
  const found = isId
    ? await withObjects(context.git, path, (objects) => objects.read(commitId))
    : undefined
  const isThere =
    found?.type === 'commit' &&
    baseTip !== undefined &&
    (await isAncestor(context.git, path, { older: found.id, younger: baseTip }))
  if (!isThere) throw new Failure('conflict', 'Wrong commit ID')
  await markMerged(context.db, pull, { mergeCommit: found.id, mergedById: doer.id })
}

async function authorOf(context: Context, { issue }: PullState): Promise<User | undefined> {
  return issue.authorId === undefined ? undefined : await findUserById(context.db, issue.authorId)
}
