/** Merging a pull request: the commits are made, the branch moves, and then it is said so. */

import { withJournalEntry } from '../../../cgi/maintenance/at-work.js'
import type { Signature } from '../../../cgi/objects/commit-object.js'
import { isAncestor } from '../../../cgi/objects/commit-range.js'
import { type MergeStyle, makeMerge } from '../../../cgi/objects/merge.js'
import { Failure, isFailure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import { isHeadInUse, markMerged, updatePull } from '../../../sql/pulls/pulls.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { changeReferences } from '../code/references-moved.js'
import { refuseRuledMerge } from './merge-rules.js'
import { branchReference, type PullState } from './refresh-pulls.js'
import { headName, type WritableHead } from './writable-head.js'

export interface PullMerge {
  readonly repository: Repository
  readonly doer: User
  readonly style: MergeStyle
  /** Of the merge commit; undefined for the usual one. */
  readonly message: { readonly title: string; readonly body: string }
  /** Who opened it, and with that wrote what a squash makes one of. */
  readonly author: User | undefined
  /** See `merge-rules`. */
  readonly isForced?: boolean | undefined
}

/**
 * Merges a pull request that is open and may be merged. Throws `conflict` when the branches
 * conflict, or one of them moves meanwhile, and `method_not_allowed` where a rule is against it.
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
  // Said before it happens, so that a crash in between is understood by whoever looks next.
  await updatePull(db, pull.id, { headCommit: head, mergeCommit: tip, mergedById: doer.id })
  const name = branchReference(pull.baseBranch)
  if (tip !== baseTip) {
    const changes = [{ name, before: baseTip, after: tip }]
    await changeReferences(context, { repository, path, pusher: doer, changes }, 'merge')
  }
  await markMerged(db, pull, { mergeCommit: tip, mergedById: doer.id })
}

/** The title that Gitea gives. */
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

/** Who changes the branch of a head, and where that is. */
interface HeadChange {
  readonly head: WritableHead
  readonly doer: User
}

/** Removes the head of a merged pull request, unless it is of use, has a rule, or has moved on. */
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
  } catch (error) {
    if (!isFailure(error, 'conflict') && !isFailure(error, 'forbidden')) throw error
  }
}

/**
 * Brings what the base has into the head branch, by a merge commit or by a rebase. The repository
 * of the head has the commits of the base.
 */
export async function updateHead(
  context: Context,
  { pull, headTip, baseTip }: PullState,
  { head: { repository, path }, doer, style }: HeadChange & { readonly style: 'merge' | 'rebase' },
): Promise<void> {
  if (baseTip === undefined || headTip === undefined) {
    throw new Failure('conflict', 'One of the branches does not exist.')
  }
  const { git, journal } = context
  if (await isAncestor(git, path, { older: baseTip, younger: headTip })) return
  const signature = signatureOf(context, doer)
  const sides =
    style === 'merge' ? { base: headTip, head: baseTip } : { base: baseTip, head: headTip }
  await withJournalEntry(journal, path, async () => {
    const tip = await makeMerge(git, path, {
      style,
      author: signature,
      committer: signature,
      ...sides,
      message: `Merge branch '${pull.baseBranch}' into ${pull.headBranch}`,
    })
    await changeReferences(context, {
      repository,
      path,
      pusher: doer,
      changes: [{ name: branchReference(pull.headBranch), before: headTip, after: tip }],
    })
  })
}

function signatureOf({ settings }: Context, { name, fullName, email }: User): Signature {
  const address =
    email || `${name.toLowerCase()}@noreply.${new URL(settings.http.baseUrl).hostname}`
  return { name: fullName || name, email: address, atMs: Date.now(), offsetMinutes: 0 }
}
