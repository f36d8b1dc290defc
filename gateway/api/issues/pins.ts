/** Pinned issues and pull requests over the API: pin, unpin, move, list. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import {
  listPinned,
  moveIssuePin,
  PINS_MAX,
  pinIssue,
  unpinIssue,
} from '../../../sql/issues/pins.js'
import { findPulls } from '../../../sql/pulls/pulls.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { isServed, issueOf, numberOf } from '../../actions/issues/issue-access.js'
import { refuseWithoutPulls } from '../../actions/pulls/find-pull.js'
import { refreshPulls } from '../../actions/pulls/refresh-pulls.js'
import { ISSUE, issueObjects } from '../../objects/issues/issue-object.js'
import { PULL_REQUEST, pullObjects } from '../../objects/pulls/pull-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { ISSUE_PARAMS, REPOSITORY_PARAMS } from './issue-params.js'

const PATH = '/repos/{owner}/{repo}/issues/{index}/pin'

const CHANGE = {
  tags: ['issue'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['write:issue'],
  query: NO_QUERY,
  success: { status: 204, schema: null },
} as const

const pin = defineOperation({
  ...CHANGE,
  id: 'pinIssue',
  method: 'POST',
  path: PATH,
  summary: 'Pin an issue',
  params: ISSUE_PARAMS,
  failures: [400, 403, 404, 423],
  async handle(context, { grant, params }) {
    const issue = await issueOf(context, grant, params)
    await pinIssue(context.db, issue, actingUserOf(grant).id)
    return { status: 204 }
  },
})

const unpin = defineOperation({
  ...CHANGE,
  id: 'unpinIssue',
  method: 'DELETE',
  path: PATH,
  summary: 'Unpin an issue',
  params: ISSUE_PARAMS,
  failures: [403, 404, 423],
  async handle(context, { grant, params }) {
    const issue = await issueOf(context, grant, params)
    await unpinIssue(context.db, issue, actingUserOf(grant).id)
    return { status: 204 }
  },
})

const move = defineOperation({
  ...CHANGE,
  id: 'moveIssuePin',
  method: 'PATCH',
  path: `${PATH}/{position}`,
  summary: 'Move a pinned issue to a position',
  params: {
    ...ISSUE_PARAMS,
    position: 'position among the pinned issues, of which the first is 1',
  },
  failures: [403, 404, 423],
  async handle(context, { grant, params }) {
    actingUserOf(grant)
    const issue = await issueOf(context, grant, params)
    await moveIssuePin(context.db, issue, numberOf(params, 'position'))
    return { status: 204 }
  },
})

const READING = {
  method: 'GET',
  tags: ['repository'],
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  failures: [404],
} as const

const listIssues = defineOperation({
  ...READING,
  id: 'repoListPinnedIssues',
  path: '/repos/{owner}/{repo}/issues/pinned',
  summary: "List a repository's pinned issues",
  access: { kind: 'repository', mode: 'read', unit: 'issues', area: 'issues' },
  success: { status: 200, schema: Type.Array(ISSUE) },
  async handle(context, { grant }) {
    const { repository } = grant
    if (!isServed(repository, { isPull: false })) throw notFound()
    const of = { repositoryId: repository.id, isPull: false }
    return jsonReply(200, await issueObjects(context, grant, await listPinned(context.db, of)))
  },
})

const listPulls = defineOperation({
  ...READING,
  id: 'repoListPinnedPullRequests',
  path: '/repos/{owner}/{repo}/pulls/pinned',
  summary: "List a repository's pinned pull requests",
  access: { kind: 'repository', mode: 'read', area: 'pull-requests' },
  success: { status: 200, schema: Type.Array(PULL_REQUEST) },
  async handle(context, { grant }) {
    refuseWithoutPulls(grant)
    const { repository } = grant
    const issues = await listPinned(context.db, { repositoryId: repository.id, isPull: true })
    const pulls = await findPulls(
      context.db,
      issues.map(({ id }) => id),
    )
    const entries = issues.flatMap((issue) => {
      const pull = pulls.get(issue.id)
      return pull === undefined ? [] : [{ issue, pull }]
    })
    const states = await refreshPulls(context, repository, entries)
    return jsonReply(200, await pullObjects(context, grant, states))
  },
})

const isAllowed = defineOperation({
  ...READING,
  id: 'repoNewPinAllowed',
  path: '/repos/{owner}/{repo}/new_pin_allowed',
  summary: 'Return whether more issues and pull requests can be pinned',
  access: { kind: 'repository', mode: 'read', unit: 'any' },
  success: {
    status: 200,
    schema: Type.Object(
      { issues: Type.Boolean(), pull_requests: Type.Boolean() },
      { $id: 'NewIssuePinsAllowed' },
    ),
  },
  async handle({ db }, { grant }) {
    const repositoryId = grant.repository.id
    const [issues, pulls] = [
      await listPinned(db, { repositoryId, isPull: false }),
      await listPinned(db, { repositoryId, isPull: true }),
    ]
    return jsonReply(200, {
      issues: issues.length < PINS_MAX,
      pull_requests: pulls.length < PINS_MAX,
    })
  },
})

export const PIN_OPERATIONS: readonly AnyOperation[] = [
  pin,
  unpin,
  move,
  listIssues,
  listPulls,
  isAllowed,
]
