/** Merging over the API: whether it was done, doing it, and bringing the head up to the base. */

import { Type } from 'typebox'
import { isAncestor } from '../../../cgi/commit-range.js'
import type { MergeStyle } from '../../../cgi/merge.js'
import { withObjects } from '../../../cgi/objects.js'
import { Failure } from '../../../conf/failures.js'
import { combineCommitStatuses } from '../../../sql/commit-statuses.js'
import { markMerged } from '../../../sql/pulls.js'
import type { Repository } from '../../../sql/repositories.js'
import { findUserById, type User } from '../../../sql/users.js'
import { issueChanged } from '../../actions/issue-changed.js'
import { mergePull, removeHeadBranch, updateHead } from '../../actions/merge-pull.js'
import { refuseMerger } from '../../actions/merge-rules.js'
import type { PullState } from '../../actions/refresh-pulls.js'
import type { Grants } from '../../auth/gate.js'
import type { Context } from '../../context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { worstOf } from './commit-status-object.js'
import { inQueue, pathOf } from './git-reader.js'
import { mayWrite, noSuchThing } from './issue-access.js'
import { PULL_PARAMS, pullOf } from './pull-access.js'
import { MERGE_PULL_REQUEST_OPTION, type MergePullRequestOption } from './pull-options.js'
import { isDraft } from './pull-request-meta.js'
import { writerOf } from './writer.js'

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
    refuseMerge(grant, state, body)
    if (body.merge_when_checks_succeed === true) await refuseUnchecked(context, grant, state)
    const { repository } = grant
    const style = styleOf(repository, body)
    if (style === 'manually-merged') {
      await refuseMerger(context, state.pull, { repository, doer })
      await noteMerge(context, grant, { state, doer, commitId: body.MergeCommitID ?? '' })
    } else {
      const message = { title: body.MergeTitleField ?? '', body: body.MergeMessageField ?? '' }
      const author = await authorOf(context, state)
      const isForced = body.force_merge === true
      await inQueue(context, { request, grant }, () =>
        mergePull(context, state, { repository, doer, style, message, author, isForced }),
      )
    }
    const { issue } = state
    await issueChanged(context, { repository, issue, actor: doer, actions: ['closed'] })
    const isHeadRemoved =
      body.delete_branch_after_merge ??
      repository.preferences['default_delete_branch_after_merge'] === true
    if (isHeadRemoved) await removeHeadBranch(context, state, { repository, doer })
    return { status: 200 }
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

/** Merges are not scheduled, and one that is to wait for its checks is not made before them. */
async function refuseUnchecked(
  { db }: Context,
  { repository }: Grant,
  { pull, headTip }: PullState,
): Promise<void> {
  const place = { repositoryId: repository.id, commitId: headTip ?? pull.headCommit }
  const { states } = await combineCommitStatuses(db, place, { page: 1, limit: 1 })
  if (worstOf(states) === 'success') return
  throw new Failure(
    'method_not_allowed',
    'The checks of the head have not all succeeded, and merges are not scheduled here.',
  )
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
  access: { kind: 'repository', mode: 'write', changesGit: true },
  scopes: ['write:repository'],
  params: PULL_PARAMS,
  query: Type.Object({
    style: Type.Optional(Type.String({ description: 'merge (default) or rebase' })),
  }),
  success: { status: 200, schema: null },
  failures: [403, 404, 409, 422, 423],
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
    await inQueue(context, { request, grant }, () =>
      updateHead(context, state, { repository, doer, style }),
    )
    return { status: 200 }
  },
})

export const PULL_MERGE_OPERATIONS: readonly AnyOperation[] = [isMerged, merge, update]
