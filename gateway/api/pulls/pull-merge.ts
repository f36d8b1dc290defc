/** Merges over the API: check, merge, cancel a scheduled merge, and update the head branch. */

import { Type } from 'typebox'
import { Failure, notFound } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import {
  cancelScheduledMerge,
  findScheduledMerge,
  scheduleMerge,
} from '../../../sql/pulls/scheduled-merges.js'
import { atLeast } from '../../../sql/repositories/access.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { haveChecksSucceeded } from '../../actions/code/commit-checks.js'
import { inQueue } from '../../actions/code/git-queue.js'
import { pullOf } from '../../actions/pulls/find-pull.js'
import { copyForeignCommit } from '../../actions/pulls/foreign-heads.js'
import {
  deletesBranch,
  type MergeOptions,
  mergeNow,
  refuseMerge,
} from '../../actions/pulls/merge-now.js'
import { updateHead } from '../../actions/pulls/merge-pull.js'
import type { PullState } from '../../actions/pulls/refresh-pulls.js'
import { findWritableHead } from '../../actions/pulls/writable-head.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { PULL_PARAMS } from './pull-access.js'
import { MERGE_PULL_REQUEST_OPTION, type MergePullRequestOption } from './pull-options.js'

type Grant = Grants['repository']

const isMerged = defineOperation({
  id: 'repoPullRequestIsMerged',
  method: 'GET',
  path: '/repos/{owner}/{repo}/pulls/{index}/merge',
  summary: 'Check if a pull request has been merged',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests' },
  scopes: ['read:repository'],
  params: PULL_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [404],
  async handle(context, { grant, params }) {
    const { pull } = await pullOf(context, grant, params)
    if (pull.mergedAtMs === undefined) throw notFound()
    return { status: 204 }
  },
})

const merge = defineOperation({
  id: 'repoMergePullRequest',
  method: 'POST',
  path: '/repos/{owner}/{repo}/pulls/{index}/merge',
  summary: 'Merge a pull request',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'pulls', isSignedIn: true, changesGit: true },
  scopes: ['write:repository'],
  params: PULL_PARAMS,
  query: NO_QUERY,
  body: MERGE_PULL_REQUEST_OPTION,
  success: { status: 200, schema: null },
  failures: [404, 405, 409, 422, 423],
  async handle(context, { request, grant, params, body }) {
    const doer = actingUserOf(grant)
    const state = await pullOf(context, grant, params)
    const order = orderOf(body)
    if (
      body.merge_when_checks_succeed &&
      (await isScheduled(context, grant, { state, doer, order }))
    ) {
      return { status: 201 }
    }
    await mergeNow(context, grant, {
      state,
      doer,
      order,
      inQueue: (work) => inQueue(context, { request, grant }, work),
    })
    return { status: 200 }
  },
})

interface ScheduledInput {
  readonly state: PullState
  readonly doer: User
  readonly order: MergeOptions
}

/**
 * Schedules a merge for the time when the checks of the head succeed. Returns false if they have
 * succeeded already, or if the pull request was merged manually.
 */
async function isScheduled(
  context: Context,
  grant: Grant,
  { state, doer, order }: ScheduledInput,
): Promise<boolean> {
  refuseMerge(grant, state, order)
  const { style, title, message } = order
  const { repository } = grant
  const headCommit = state.headTip ?? state.pull.headCommit
  const place = { repositoryId: repository.id, commitId: headCommit }
  if (style === 'manually-merged' || (await haveChecksSucceeded(context, place))) return false
  await scheduleMerge(context.db, {
    pullId: state.pull.id,
    doerId: doer.id,
    style,
    headCommit,
    title,
    message,
    deletesBranch: deletesBranch(repository, order),
  })
  // The checks may have succeeded after they were read and before the merge was scheduled.
  await context.upkeep.enqueueMerge(state.pull.id)
  return true
}

function orderOf(body: MergePullRequestOption): MergeOptions {
  return {
    style: (body.Do || 'merge') as MergeOptions['style'],
    title: body.MergeTitleField ?? '',
    message: body.MergeMessageField ?? '',
    headCommit: body.head_commit_id || undefined,
    mergeCommit: body.MergeCommitID,
    deletesBranch: body.delete_branch_after_merge,
    isForced: body.force_merge === true,
  }
}

const cancel = defineOperation({
  id: 'repoCancelScheduledAutoMerge',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/pulls/{index}/merge',
  summary: 'Cancel the scheduled auto merge for the given pull request',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests', isSignedIn: true },
  scopes: ['write:repository'],
  params: PULL_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle(context, { grant, params }) {
    const user = actingUserOf(grant)
    const { pull } = await pullOf(context, grant, params)
    const scheduled = await findScheduledMerge(context.db, pull.id)
    if (scheduled === undefined) throw notFound()
    if (scheduled.doerId !== user.id && !atLeast(grant.mode, 'admin')) {
      throw new Failure('forbidden', 'user has no permission to cancel the scheduled auto merge')
    }
    await cancelScheduledMerge(context.db, pull.id)
    return { status: 204 }
  },
})

const update = defineOperation({
  id: 'repoUpdatePullRequest',
  method: 'POST',
  path: '/repos/{owner}/{repo}/pulls/{index}/update',
  summary: "Merge PR's baseBranch into headBranch",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'pulls', isSignedIn: true, changesGit: true },
  scopes: ['write:repository'],
  params: PULL_PARAMS,
  query: Type.Object({
    style: Type.Optional(Type.String({ description: 'merge (default) or rebase' })),
  }),
  success: { status: 200, schema: null },
  failures: [403, 404, 409, 413, 422, 423],
  async handle(context, { request, grant, params, query }) {
    const doer = actingUserOf(grant)
    const state = await pullOf(context, grant, params)
    if (state.issue.state === 'closed') {
      throw new Failure('invalid', 'The head of a closed pull request cannot be updated.')
    }
    const { style = 'merge' } = query
    if (style !== 'merge' && style !== 'rebase') {
      throw new Failure('invalid', 'style must be merge or rebase.')
    }
    const { repository } = grant
    if (style === 'rebase' && repository.preferences['allow_rebase_update'] === false) {
      throw new Failure('forbidden', 'The repository does not allow updates by rebase.')
    }
    const head = await findWritableHead(context, grant, state.pull)
    if (head === undefined) {
      throw new Failure('forbidden', 'User has no write permission for the head branch.')
    }
    const source = repositoryPathOf(context, grant.repository)
    if (head.path !== source && state.baseTip !== undefined) {
      const to = { path: head.path, repositoryId: head.repository.id }
      const from = { source, sourceId: repository.id, commit: state.baseTip }
      await copyForeignCommit(context, { ...to, ...from })
    }
    await inQueue(context, { request, grant }, () =>
      updateHead(context, state, { head, doer, style }),
    )
    return { status: 200 }
  },
})

export const PULL_MERGE_OPERATIONS: readonly AnyOperation[] = [isMerged, merge, cancel, update]
