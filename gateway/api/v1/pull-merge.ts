/** Merging over the API: whether it was done, doing it, and bringing the head up to the base. */

import { Type } from 'typebox'
import { isAncestor } from '../../../cgi/commit-range.js'
import type { MergeStyle } from '../../../cgi/merge.js'
import { withObjects } from '../../../cgi/objects.js'
import { Failure } from '../../../conf/failures.js'
import { atLeast } from '../../../sql/access.js'
import { markMerged } from '../../../sql/pulls.js'
import type { Repository } from '../../../sql/repositories.js'
import {
  cancelScheduledMerge,
  findScheduledMerge,
  scheduleMerge,
} from '../../../sql/scheduled-merges.js'
import { findUserById, type User } from '../../../sql/users.js'
import { haveChecksSucceeded } from '../../actions/checks.js'
import { bringCommit } from '../../actions/foreign-heads.js'
import { inQueue, pathOf } from '../../actions/git-reader.js'
import { mayWrite, noSuchThing } from '../../actions/issue-access.js'
import { issueChanged } from '../../actions/issue-changed.js'
import { mergePull, removeHeadBranch, updateHead } from '../../actions/merge-pull.js'
import { refuseMerger } from '../../actions/merge-rules.js'
import type { PullState } from '../../actions/refresh-pulls.js'
import { findWritableHead } from '../../actions/writable-head.js'
import { writerOf } from '../../actions/writer.js'
import type { Grants } from '../../auth/gate.js'
import type { Context } from '../../context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { PULL_PARAMS, pullOf } from './pull-access.js'
import { MERGE_PULL_REQUEST_OPTION, type MergePullRequestOption } from './pull-options.js'
import { isDraft } from './pull-request-meta.js'

type Grant = Grants['repository']

const isMerged = defineOperation({
  id: 'repoPullRequestIsMerged',
  method: 'GET',
  path: '/repos/{owner}/{repo}/pulls/{index}/merge',
  summary: 'Check if a pull request has been merged',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: PULL_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [404],
  async handle(context, { grant, params }) {
    const { pull } = await pullOf(context, grant, params)
    if (pull.mergedAtMs === undefined) throw noSuchThing()
    return { status: 204 }
  },
})

const merge = defineOperation({
  id: 'repoMergePullRequest',
  method: 'POST',
  path: '/repos/{owner}/{repo}/pulls/{index}/merge',
  summary: 'Merge a pull request',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', isSignedIn: true, changesGit: true },
  scopes: ['write:repository'],
  params: PULL_PARAMS,
  query: NO_QUERY,
  body: MERGE_PULL_REQUEST_OPTION,
  success: { status: 200, schema: null },
  failures: [404, 405, 409, 422, 423],
  async handle(context, { request, grant, params, body }) {
    const doer = writerOf(grant)
    const state = await pullOf(context, grant, params)
    const wish = { state, doer, body }
    if (body.merge_when_checks_succeed && (await isScheduled(context, grant, wish))) {
      return { status: 201 }
    }
    await mergeNow(context, grant, {
      ...wish,
      inQueue: (work) => inQueue(context, { request, grant }, work),
    })
    return { status: 200 }
  },
})

interface MergeWish {
  readonly state: PullState
  readonly doer: User
  readonly body: MergePullRequestOption
}

/** Merges as the body says and tells of it, or throws what stands in the way. */
export async function mergeNow(
  context: Context,
  grant: Grant,
  {
    state,
    doer,
    body,
    inQueue,
  }: MergeWish & { readonly inQueue: (work: () => Promise<void>) => Promise<void> },
): Promise<void> {
  refuseMerge(grant, state, body)
  const { repository } = grant
  const style = styleOf(repository, body)
  if (style === 'manually-merged') {
    await refuseMerger(context, state.pull, { repository, doer })
    await noteMerge(context, grant, { state, doer, commitId: body.MergeCommitID ?? '' })
  } else {
    const message = { title: body.MergeTitleField ?? '', body: body.MergeMessageField ?? '' }
    const author = await authorOf(context, state)
    const isForced = body.force_merge === true
    await inQueue(() =>
      mergePull(context, state, { repository, doer, style, message, author, isForced }),
    )
  }
  const { issue, pull } = state
  await issueChanged(context, { repository, issue, actor: doer, actions: ['closed'] })
  if (!deletesBranch(repository, body)) return
  const head = await findWritableHead(context, grant, pull)
  if (head !== undefined) await removeHeadBranch(context, state, { head, doer })
}

function deletesBranch({ preferences }: Repository, body: MergePullRequestOption): boolean {
  const { delete_branch_after_merge: wish } = body
  return wish ?? preferences['default_delete_branch_after_merge'] === true
}

/** Lets a merge wait for the checks of the head; false where these have succeeded. */
async function isScheduled(
  context: Context,
  grant: Grant,
  { state, doer, body }: MergeWish,
): Promise<boolean> {
  refuseMerge(grant, state, body)
  const { repository } = grant
  const style = styleOf(repository, body)
  const headCommit = state.headTip ?? state.pull.headCommit
  const place = { repositoryId: repository.id, commitId: headCommit }
  if (style === 'manually-merged' || (await haveChecksSucceeded(context, place))) return false
  await scheduleMerge(context.db, {
    ...{ pullId: state.pull.id, doerId: doer.id, style, headCommit },
    title: body.MergeTitleField ?? '',
    message: body.MergeMessageField ?? '',
    deletesBranch: deletesBranch(repository, body),
  })
  // They may have succeeded between the two.
  await context.upkeep.mergeIsWanted(state.pull.id)
  return true
}

const cancel = defineOperation({
  id: 'repoCancelScheduledAutoMerge',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/pulls/{index}/merge',
  summary: 'Cancel the scheduled auto merge for the given pull request',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', isSignedIn: true },
  scopes: ['write:repository'],
  params: PULL_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle(context, { grant, params }) {
    const user = writerOf(grant)
    const { pull } = await pullOf(context, grant, params)
    const scheduled = await findScheduledMerge(context.db, pull.id)
    if (scheduled === undefined) throw noSuchThing()
    if (scheduled.doerId !== user.id && !atLeast(grant.mode, 'admin')) {
      throw new Failure('forbidden', 'user has no permission to cancel the scheduled auto merge')
    }
    await cancelScheduledMerge(context.db, pull.id)
    return { status: 204 }
  },
})

/** Throws what stands in the way of any merge. */
function refuseMerge(grant: Grant, state: PullState, body: MergePullRequestOption): void {
  const { issue, pull, headTip } = state
  if (pull.mergedAtMs !== undefined) {
    throw new Failure('method_not_allowed', 'The pull request is merged already.')
  }
  if (issue.state === 'closed') throw new Failure('not_found', 'The pull request is closed.')
  if (!mayWrite(grant)) throw new Failure('method_not_allowed', 'User not allowed to merge PR')
  if (isDraft(issue.title)) {
    throw new Failure('method_not_allowed', 'Work in progress PRs cannot be merged')
  }
  const expected = body.head_commit_id || undefined
  if (expected !== undefined && expected !== (headTip ?? pull.headCommit)) {
    throw new Failure('conflict', 'head out of date')
  }
}

/** Which preference lets a style be used. */
const PREFERENCES: Readonly<Record<MergeStyle | 'manually-merged', string>> = {
  merge: 'allow_merge_commits',
  rebase: 'allow_rebase',
  'rebase-merge': 'allow_rebase_explicit',
  squash: 'allow_squash_merge',
  'fast-forward-only': 'allow_fast_forward_only_merge',
  'manually-merged': 'allow_manual_merge',
}

function styleOf(
  { id, preferences }: Repository,
  { Do }: MergePullRequestOption,
): MergeStyle | 'manually-merged' {
  const style = (Do || 'merge') as MergeStyle | 'manually-merged'
  const wish = preferences[PREFERENCES[style]]
  if (style === 'manually-merged' ? wish === true : wish !== false) return style
  throw new Failure(
    'method_not_allowed',
    `merge strategy is not allowed or is not a valid strategy [repo_id: ${id}, strategy: ${style}]`,
  )
}

interface NotedMerge {
  readonly state: PullState
  readonly doer: User
  readonly commitId: string
}

/** Remembers a merge that somebody pushed. Throws `conflict` for a commit that is not there. */
async function noteMerge(
  context: Context,
  grant: Grant,
  { state: { pull, baseTip }, doer, commitId }: NotedMerge,
): Promise<void> {
  const path = pathOf(context, grant)
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

const update = defineOperation({
  id: 'repoUpdatePullRequest',
  method: 'POST',
  path: '/repos/{owner}/{repo}/pulls/{index}/update',
  summary: "Merge PR's baseBranch into headBranch",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', isSignedIn: true, changesGit: true },
  scopes: ['write:repository'],
  params: PULL_PARAMS,
  query: Type.Object({
    style: Type.Optional(Type.String({ description: 'merge (default) or rebase' })),
  }),
  success: { status: 200, schema: null },
  failures: [403, 404, 409, 413, 422, 423],
  async handle(context, { request, grant, params, query }) {
    const doer = writerOf(grant)
    const state = await pullOf(context, grant, params)
    if (state.issue.state === 'closed') throw new Failure('invalid', 'The pull request is closed.')
    const { style = 'merge' } = query
    if (style !== 'merge' && style !== 'rebase') {
      throw new Failure('invalid', 'The style is merge or rebase.')
    }
    const { repository } = grant
    if (style === 'rebase' && repository.preferences['allow_rebase_update'] === false) {
      throw new Failure('forbidden', 'This repository does not take updates by rebase.')
    }
    const head = await findWritableHead(context, grant, state.pull)
    if (head === undefined) throw new Failure('forbidden', 'You may not write to the head branch.')
    const source = pathOf(context, grant)
    if (head.path !== source && state.baseTip !== undefined) {
      await bringCommit(context, { path: head.path, source, commit: state.baseTip })
    }
    await inQueue(context, { request, grant }, () =>
      updateHead(context, state, { head, doer, style }),
    )
    return { status: 200 }
  },
})

export const PULL_MERGE_OPERATIONS: readonly AnyOperation[] = [isMerged, merge, cancel, update]
