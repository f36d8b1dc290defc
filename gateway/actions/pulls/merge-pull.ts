/** Merges of pull requests, and updates of their head branches, with git and in the database. */

import { withJournalEntry } from '../../../cgi/maintenance/at-work.js'
import type { Signature } from '../../../cgi/objects/commit-object.js'
import { isAncestor } from '../../../cgi/objects/commit-range.js'
import { type MergeStyle, makeMerge } from '../../../cgi/objects/merge.js'
import { Failure, isFailure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import { recordIssueEvents } from '../../../sql/issues/issue-events.js'
import { isHeadInUse, markMerged, updatePull } from '../../../sql/pulls/pulls.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { changeReferences } from '../code/references-moved.js'
import { refuseEarlyMerge } from '../issues/dependencies.js'
import { refuseRuledMerge, refuseUnsignedMerge } from './merge-rules.js'
import { branchReference, type PullState } from './refresh-pulls.js'
import { headName, type WritableHead } from './writable-head.js'

export interface PullMerge {
  readonly repository: Repository
  readonly doer: User
  readonly style: MergeStyle
  /** Message of the merge or squashed commit; an empty title means the default. */
  readonly message: { readonly title: string; readonly body: string }
  /** Author of the pull request, who becomes the author of a squashed commit. */
  readonly author: User | undefined
  /** See `MergeInput` in merge-rules.ts. */
  readonly isForced?: boolean | undefined
}

/**
 * Merges a pull request, which the caller has checked to be open. Throws `conflict` if the branches
 * conflict or the base moves meanwhile, and `method_not_allowed` if a branch rule refuses it
 * or if it depends on an open issue.
 */
export async function mergePull(
  context: Context,
  state: PullState,
  merge: PullMerge,
): Promise<void> {
  const path = repositoryPathOf(context, merge.repository)
  await withJournalEntry(context.journal, path, () =>
    makePullMerge(context, state, { ...merge, path }),
  )
}

async function makePullMerge(
  context: Context,
  state: PullState,
  { path, ...merge }: PullMerge & { readonly path: string },
): Promise<void> {
  const { repository, doer, style, message, author, isForced = false } = merge
  const { issue, pull, headTip, baseTip } = state
  await refuseEarlyMerge(context, issue)
  await refuseRuledMerge(context, state, { repository, doer, isForced })
  if (baseTip === undefined) throw new Failure('conflict', 'The base branch does not exist.')
  const { git, db } = context
  const committer = signatureOf(context, doer)
  const head = headTip ?? pull.headCommit
  const title = message.title.trim() || (await defaultTitle(context, style, { issue, pull }))
  const body = message.body.trim()
  const tip = await makeMerge(git, path, {
    style,
    base: baseTip,
    head,
    committer,
    message: body === '' ? title : `${title}\n\n${body}`,
    author: author === undefined ? committer : signatureOf(context, author),
  })
  await refuseUnsignedMerge(context, pull, { path, before: baseTip, after: tip })
  // Stored before the branch moves, so that `refreshPulls` can complete the merge after a crash.
  await updatePull(db, pull.id, { headCommit: head, mergeCommit: tip, mergedById: doer.id })
  const name = branchReference(pull.baseBranch)
  if (tip !== baseTip) {
    const changes = [{ name, before: baseTip, after: tip }]
    await changeReferences(context, { repository, path, pusher: doer, changes }, 'merge')
  }
  await markMerged(db, pull, { mergeCommit: tip, mergedById: doer.id })
}

/** Returns the default title, which is Gitea's. */
async function defaultTitle(
  context: Context,
  style: MergeStyle,
  { issue, pull }: Pick<PullState, 'issue' | 'pull'>,
): Promise<string> {
  const { title, number } = issue
  if (style === 'squash') return `${title} (#${number})`
  const head = await headName(context, pull)
  return `Merge pull request '${title}' (#${number}) from ${head} into ${pull.baseBranch}`
}

/** Repository of a head branch to change, and the user who changes it. */
interface HeadChange {
  readonly head: WritableHead
  readonly doer: User
}

/**
 * Deletes the head branch of a merged pull request. Does nothing if it is the default branch, is
 * used by another open pull request, is protected, or has moved.
 */
export async function removeHeadBranch(
  context: Context,
  { pull, headTip }: PullState,
  { head: { repository, path }, doer }: HeadChange,
): Promise<void> {
  const { headBranch } = pull
  if (headTip === undefined || headBranch === repository.defaultBranch) return
  if (await isHeadInUse(context.db, pull)) return
  try {
    await changeReferences(context, {
      repository,
      path,
      pusher: doer,
      changes: [{ name: branchReference(headBranch), before: headTip, after: undefined }],
    })
    const details = { oldRef: headBranch }
    const event = { issueId: pull.issueId, actorId: doer.id, kind: 'delete_branch' } as const
    await recordIssueEvents(context.db, [{ ...event, details }])
  } catch (error) {
    if (!isFailure(error, 'conflict') && !isFailure(error, 'forbidden')) throw error
  }
}

/**
 * Updates the head branch with the commits of the base, by a merge commit or by a rebase. The head
 * repository must have the commits of the base already.
 */
export async function updateHead(
  context: Context,
  { pull, headTip, baseTip }: PullState,
  { head: { repository, path }, doer, style }: HeadChange & { readonly style: 'merge' | 'rebase' },
): Promise<void> {
  if (baseTip === undefined || headTip === undefined) {
    throw new Failure('conflict', 'One of the branches does not exist.')
  }
  if (await isAncestor(context.git, path, { older: baseTip, younger: headTip })) return
  await updateBranch(context, {
    repository,
    path,
    doer,
    style,
    branch: pull.headBranch,
    before: headTip,
    commit: baseTip,
    message: `Merge branch '${pull.baseBranch}' into ${pull.headBranch}`,
  })
}

export interface BranchUpdate {
  readonly repository: Repository
  /** Absolute path of the repository, which has both commits. */
  readonly path: string
  readonly doer: User
  readonly branch: string
  /** Full id of the branch's commit. */
  readonly before: string
  /** Full id of the commit that the branch lacks. */
  readonly commit: string
  /** A rebase puts the commits of the branch on top of the other commit. */
  readonly style: 'merge' | 'rebase' | 'fast-forward-only'
  readonly message: string
}

/** Updates a branch with another commit. Throws `conflict`, and as `changeReferences` does. */
export async function updateBranch(context: Context, update: BranchUpdate): Promise<void> {
  const { repository, path, doer, branch, before, commit, style, message } = update
  const { git, journal } = context
  const signature = signatureOf(context, doer)
  const sides = style === 'rebase' ? { base: commit, head: before } : { base: before, head: commit }
  await withJournalEntry(journal, path, async () => {
    const after = await makeMerge(git, path, {
      style,
      author: signature,
      committer: signature,
      ...sides,
      message,
    })
    const changes = [{ name: branchReference(branch), before, after }]
    await changeReferences(context, { repository, path, pusher: doer, changes })
  })
}

function signatureOf({ settings }: Context, { name, fullName, email }: User): Signature {
  const address =
    email || `${name.toLowerCase()}@noreply.${new URL(settings.http.baseUrl).hostname}`
  return { name: fullName || name, email: address, atMs: Date.now(), offsetMinutes: 0 }
}
