/** Pull requests over the API: list, open, read, find by branches, edit. */

import { Type } from 'typebox'
import { Failure, notFound } from '../../../conf/failures.js'
import { findUser } from '../../../sql/accounts/users.js'
import { findMilestone } from '../../../sql/issues/milestones.js'
import {
  findPullBetween,
  findPullByMerge,
  listPulls,
  type PullOrder,
} from '../../../sql/pulls/pull-lists.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { issueChanged } from '../../actions/issues/issue-changed.js'
import { findHead } from '../../actions/pulls/find-head.js'
import { pullOf, refuseWithoutPulls } from '../../actions/pulls/find-pull.js'
import { openPull } from '../../actions/pulls/open-pull.js'
import { refreshPulls } from '../../actions/pulls/refresh-pulls.js'
import { PULL_REQUEST, pullObjects } from '../../objects/pulls/pull-object.js'
import { inputsOf } from '../issues/issue-inputs.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { countedPullObject, PULL_PARAMS } from './pull-access.js'
import { editPull } from './pull-edit.js'
import { CREATE_PULL_REQUEST_OPTION, EDIT_PULL_REQUEST_OPTION } from './pull-options.js'
import { reviewersOf } from './review-access.js'

const ORDERS: Readonly<Record<string, PullOrder>> = {
  oldest: 'oldest',
  recentupdate: 'recentupdate',
  recentclose: 'recentclose',
  leastupdate: 'leastupdate',
  mostcomment: 'mostcomment',
  leastcomment: 'leastcomment',
}

const list = defineOperation({
  id: 'repoListPullRequests',
  method: 'GET',
  path: '/repos/{owner}/{repo}/pulls',
  summary: "List a repo's pull requests",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object({
    base_branch: Type.Optional(Type.String({ description: 'the branch to merge into' })),
    state: Type.Optional(Type.String({ description: 'open (default), closed or all' })),
    sort: Type.Optional(
      Type.String({ description: `${Object.keys(ORDERS).join(', ')} or priority` }),
    ),
    milestone: Type.Optional(Type.Integer({ description: 'id of the milestone' })),
    labels: Type.Optional(Type.String({ description: 'ids of labels, separated by commas' })),
    poster: Type.Optional(Type.String({ description: 'who opened it' })),
    ...PAGE_QUERY,
  }),
  success: { status: 200, schema: Type.Array(PULL_REQUEST) },
  failures: [404],
  async handle(context, { request, grant, query }) {
    refuseWithoutPulls(grant)
    const { repository } = grant
    const page = pageOf(query)
    const { state = 'open', sort = '', milestone, poster, base_branch } = query
    const author = poster ? await findUser(context.db, poster) : undefined
    if (poster && author === undefined) throw notFound()
    const labels = labelIdsOf(request.query)
    const { entries, total } = await listPulls(context.db, repository.id, {
      page,
      state: state === 'all' || state === 'closed' ? state : 'open',
      order: ORDERS[sort] ?? 'newest',
      labelIds: labels,
      milestoneId: milestone || undefined,
      authorId: author?.id,
      baseBranch: base_branch || undefined,
    })
    const states = await refreshPulls(context, repository, entries)
    const objects = await pullObjects(context, grant, states)
    const path = `/repos/${repository.owner.name}/${repository.name}/pulls`
    const asked = { base_branch, state: query.state, sort: query.sort, poster }
    const rest = { milestone: milestone?.toString(), labels: labels.join() }
    return pageReply(context, objects, { path, query: { ...asked, ...rest }, page, total })
  },
})

/** Returns the label ids in `labels`, which may be repeated or contain commas. */
function labelIdsOf(query: string): readonly number[] {
  const named = new URLSearchParams(query).getAll('labels').flatMap((text) => text.split(','))
  return [...new Set(named.filter((text) => /^\d{1,15}$/.test(text)).map(Number))].slice(0, 50)
}

const create = defineOperation({
  id: 'repoCreatePullRequest',
  method: 'POST',
  path: '/repos/{owner}/{repo}/pulls',
  summary: 'Create a pull request',
  tags: ['repository'],
  access: {
    kind: 'repository',
    mode: 'read',
    area: 'pull-requests',
    isSignedIn: true,
    refusesBlocked: true,
  },
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: CREATE_PULL_REQUEST_OPTION,
  success: { status: 201, schema: PULL_REQUEST },
  failures: [403, 404, 409, 413, 422, 423],
  async handle(context, { grant, body }) {
    refuseWithoutPulls(grant)
    const author = actingUserOf(grant)
    const { repository } = grant
    const inputs = await inputsOf(context, grant, body)
    const { milestoneId } = inputs
    if (milestoneId !== undefined) {
      const found = await findMilestone(context.db, repository.id, String(milestoneId))
      if (found?.id !== milestoneId) throw new Failure('not_found', 'The milestone does not exist.')
    }
    const reviewers = await reviewersOf(context, grant, { body, authorId: author.id })
    const opened = await openPull(context, grant, {
      reviewers,
      head: body.head,
      base: body.base,
      issue: {
        ...inputs,
        assigneeIds: inputs.assigneeIds ?? [],
        title: body.title,
        content: body.body ?? '',
      },
      allowsMaintainerEdit: body.allow_maintainer_edit,
    })
    const [state] = await refreshPulls(context, repository, [opened])
    if (state === undefined) throw notFound()
    return jsonReply(201, await countedPullObject(context, grant, state))
  },
})

const get = defineOperation({
  id: 'repoGetPullRequest',
  method: 'GET',
  path: '/repos/{owner}/{repo}/pulls/{index}',
  summary: 'Get a pull request',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests' },
  scopes: ['read:repository'],
  params: PULL_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: PULL_REQUEST },
  failures: [404],
  async handle(context, { grant, params }) {
    const state = await pullOf(context, grant, params)
    return jsonReply(200, await countedPullObject(context, grant, state))
  },
})

const getByBranches = defineOperation({
  id: 'repoGetPullRequestByBaseHead',
  method: 'GET',
  path: '/repos/{owner}/{repo}/pulls/{base}/{head...}',
  summary: 'Get a pull request by base and head',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests' },
  scopes: ['read:repository'],
  params: {
    ...REPOSITORY_PARAMS,
    base: 'base of the pull request to get',
    head: 'head of the pull request to get',
  },
  query: NO_QUERY,
  success: { status: 200, schema: PULL_REQUEST },
  failures: [404],
  async handle(context, { grant, params }) {
    refuseWithoutPulls(grant)
    const { repository } = grant
    const [first = '', rest = ''] = [params['base'], params['head']]
    for (const [base, head] of splitsOf(`${first}/${rest}`, first.length)) {
      const named = await findHead(context, grant, head)
      if (named === undefined) continue
      const branches = { base, head: named.branch, headRepositoryId: named.repository.id }
      const found = await findPullBetween(context.db, repository.id, branches)
      if (found === undefined) continue
      const [state] = await refreshPulls(context, repository, [found])
      if (state !== undefined) {
        return jsonReply(200, await countedPullObject(context, grant, state))
      }
    }
    throw notFound()
  },
})

const getOfCommit = defineOperation({
  id: 'repoGetCommitPullRequest',
  method: 'GET',
  path: '/repos/{owner}/{repo}/commits/{sha}/pull',
  summary: 'Get the merged pull request of the commit',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'pulls', area: 'pull-requests' },
  scopes: ['read:repository'],
  params: { ...REPOSITORY_PARAMS, sha: 'full id of the commit that the merge made' },
  query: NO_QUERY,
  success: { status: 200, schema: PULL_REQUEST },
  failures: [404],
  async handle(context, { grant, params }) {
    refuseWithoutPulls(grant)
    const { repository } = grant
    const found = await findPullByMerge(context.db, repository.id, params['sha'] ?? '')
    if (found === undefined) throw notFound()
    const [state] = await refreshPulls(context, repository, [found])
    if (state === undefined) throw notFound()
    return jsonReply(200, await countedPullObject(context, grant, state))
  },
})

const SPLITS_MAX = 20

/**
 * Returns the ways to split two names that may contain unescaped slashes. The split at `at`, as the
 * route matched it, comes first; in the others the first name is longer.
 */
function splitsOf(text: string, at: number): readonly (readonly [string, string])[] {
  const ends = [...text.matchAll(/\//g)].map(({ index }) => index).filter((end) => end >= at)
  return ends.slice(0, SPLITS_MAX).map((end) => [text.slice(0, end), text.slice(end + 1)])
}

const edit = defineOperation({
  id: 'repoEditPullRequest',
  method: 'PATCH',
  path: '/repos/{owner}/{repo}/pulls/{index}',
  summary: 'Update a pull request',
  tags: ['repository'],
  access: {
    kind: 'repository',
    mode: 'read',
    area: 'pull-requests',
    isSignedIn: true,
    refusesBlocked: true,
  },
  scopes: ['write:repository'],
  params: PULL_PARAMS,
  query: NO_QUERY,
  body: EDIT_PULL_REQUEST_OPTION,
  success: { status: 201, schema: PULL_REQUEST },
  failures: [403, 404, 409, 412, 422, 423],
  async handle(context, { grant, params, body }) {
    const actor = actingUserOf(grant)
    const state = await pullOf(context, grant, params)
    const actions = await editPull(context, grant, { state, body })
    const { repository } = grant
    await issueChanged(context, { repository, issue: state.issue, actor, actions })
    const changed = await pullOf(context, grant, params)
    return jsonReply(201, await countedPullObject(context, grant, changed))
  },
})

export const PULL_REQUEST_OPERATIONS: readonly AnyOperation[] = [
  list,
  create,
  get,
  getByBranches,
  getOfCommit,
  edit,
]
