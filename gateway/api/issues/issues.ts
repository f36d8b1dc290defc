/** Issues over the API: list, open, read, edit, delete, and set the deadline. */

import { type Static, Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { listIssues } from '../../../sql/issues/issue-lists.js'
import { deleteIssue, findIssue, type Issue, type IssuePatch } from '../../../sql/issues/issues.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { changeIssue } from '../../actions/issues/change-issue.js'
import { issueOf, mayWrite, servedKind, titleOf } from '../../actions/issues/issue-access.js'
import { issueChanged } from '../../actions/issues/issue-changed.js'
import { openIssue } from '../../actions/issues/open-issue.js'
import type { Grants } from '../../auth/authorize.js'
import { ISSUE, issueObject, issueObjects } from '../../objects/issues/issue-object.js'
import { nullable, TIME } from '../../objects/schema.js'
import { apiTime, readDay } from '../../objects/times.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { filterOf, ISSUE_QUERY, USERS_QUERY, userFilterOf } from './issue-filter.js'
import { assigneesOf, inputsOf } from './issue-inputs.js'
import { ISSUE_PARAMS, REPOSITORY_PARAMS } from './issue-params.js'

const REF_CHARACTERS_MAX = 255

const CREATE_ISSUE_OPTION = Type.Object(
  {
    title: Type.String({ minLength: 1 }),
    body: Type.Optional(Type.String()),
    ref: Type.Optional(Type.String({ maxLength: REF_CHARACTERS_MAX })),
    assignee: Type.Optional(Type.String({ description: 'deprecated' })),
    assignees: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
    due_date: Type.Optional(TIME),
    milestone: Type.Optional(Type.Integer({ description: 'milestone id' })),
    labels: Type.Optional(Type.Array(Type.Integer(), { description: 'list of label ids' })),
    closed: Type.Optional(Type.Boolean()),
  },
  { $id: 'CreateIssueOption' },
)

const EDIT_ISSUE_OPTION = Type.Object(
  {
    title: Type.Optional(Type.String()),
    body: Type.Optional(Type.String()),
    ref: Type.Optional(Type.String({ maxLength: REF_CHARACTERS_MAX })),
    assignee: Type.Optional(Type.String({ description: 'deprecated' })),
    assignees: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
    due_date: Type.Optional(TIME),
    unset_due_date: Type.Optional(Type.Boolean()),
    milestone: Type.Optional(Type.Integer()),
    state: Type.Optional(Type.Enum(['open', 'closed'])),
  },
  { $id: 'EditIssueOption' },
)

const EDIT_DEADLINE_OPTION = Type.Object(
  { due_date: Type.Optional(nullable(TIME)) },
  { $id: 'EditDeadlineOption' },
)

const ISSUE_DEADLINE = Type.Object({ due_date: nullable(TIME) }, { $id: 'IssueDeadline' })

const list = defineOperation({
  id: 'issueListIssues',
  method: 'GET',
  path: '/repos/{owner}/{repo}/issues',
  summary: "List a repository's issues",
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:issue'],
  params: REPOSITORY_PARAMS,
  query: Type.Object({ ...ISSUE_QUERY, ...USERS_QUERY, ...PAGE_QUERY }),
  success: { status: 200, schema: Type.Array(ISSUE) },
  dependsOn: 'rows',
  failures: [404, 422],
  async handle(context, { grant, query }) {
    const { repository } = grant
    const page = pageOf(query)
    const { entries, total } = await listIssues(context.db, repository.id, {
      ...filterOf(query),
      ...(await userFilterOf(context, query, grant.user)),
      isPull: servedKind(grant, query.type),
      page,
    })
    const path = `/repos/${repository.owner.name}/${repository.name}/issues`
    const { page: _page, limit: _limit, ...given } = query
    const objects = await issueObjects(context, grant, entries)
    return pageReply(context, objects, { path, query: given, page, total })
  },
})

const create = defineOperation({
  id: 'issueCreateIssue',
  method: 'POST',
  path: '/repos/{owner}/{repo}/issues',
  summary:
    'Create an issue. If using deadline only the date will be taken into account, and time of day ignored.',
  tags: ['issue'],
  access: {
    kind: 'repository',
    mode: 'read',
    unit: 'issues',
    isSignedIn: true,
    refusesBlocked: true,
  },
  scopes: ['write:issue'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: CREATE_ISSUE_OPTION,
  success: { status: 201, schema: ISSUE },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, body }) {
    const issue = await openIssue(context, grant, {
      title: body.title,
      content: body.body ?? '',
      ref: body.ref,
      state: body.closed === true ? 'closed' : 'open',
      ...(await inputsOf(context, grant, body)),
    })
    return jsonReply(201, await presentObject(context, grant, issue))
  },
})

/** Returns the object of an issue, read again after a change and its consequences. */
async function presentObject(context: Context, grant: Grants['repository'], issue: Issue) {
  const present = await findIssue(context.db, issue.repositoryId, issue.number)
  return await issueObject(context, grant, present ?? issue)
}

const get = defineOperation({
  id: 'issueGetIssue',
  method: 'GET',
  path: '/repos/{owner}/{repo}/issues/{index}',
  summary: 'Get an issue',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: ISSUE },
  dependsOn: 'rows',
  failures: [404],
  async handle(context, { grant, params }) {
    return jsonReply(200, await issueObject(context, grant, await issueOf(context, grant, params)))
  },
})

const edit = defineOperation({
  id: 'issueEditIssue',
  method: 'PATCH',
  path: '/repos/{owner}/{repo}/issues/{index}',
  summary:
    'Edit an issue. If using deadline only the date will be taken into account, and time of day ignored.',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read', isSignedIn: true, refusesBlocked: true },
  scopes: ['write:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  body: EDIT_ISSUE_OPTION,
  success: { status: 201, schema: ISSUE },
  failures: [403, 404, 409, 412, 422, 423],
  async handle(context, { grant, params, body }) {
    const issue = await issueOf(context, grant, params)
    const patch: IssuePatch = {
      title: body.title ? titleOf(body.title) : undefined,
      content: body.body,
      ref: body.ref,
      state: body.state,
      ...(mayWrite(grant) ? await writersPatch(context, grant, body) : {}),
    }
    await changeIssue(context, grant, { issue, patch })
    return jsonReply(201, await presentObject(context, grant, issue))
  },
})

/** Returns the changes that need write permission, which the author alone does not have. */
async function writersPatch(
  context: Context,
  grant: Grants['repository'],
  body: Static<typeof EDIT_ISSUE_OPTION>,
): Promise<IssuePatch> {
  const dueAtMs = body.due_date === undefined ? undefined : readDay(body.due_date)
  return {
    assigneeIds: await assigneesOf(context, grant, body),
    milestoneId: body.milestone === 0 ? null : body.milestone,
    dueAtMs: body.unset_due_date === true ? null : dueAtMs,
  }
}

const remove = defineOperation({
  id: 'issueDelete',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/issues/{index}',
  summary: 'Delete an issue',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['write:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle(context, { grant, params }) {
    const issue = await issueOf(context, grant, params)
    const actor = actingUserOf(grant)
    if (!(await deleteIssue(context.db, issue.id))) throw notFound()
    const { repository } = grant
    await issueChanged(context, { repository, issue, actor, actions: ['deleted'] })
    return { status: 204 }
  },
})

const editDeadline = defineOperation({
  id: 'issueEditIssueDeadline',
  method: 'POST',
  path: '/repos/{owner}/{repo}/issues/{index}/deadline',
  summary:
    'Set an issue deadline. Without one, the previous deadline is deleted. If using deadline only the date will be taken into account, and time of day ignored.',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  body: EDIT_DEADLINE_OPTION,
  success: { status: 201, schema: ISSUE_DEADLINE },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, params, body }) {
    const issue = await issueOf(context, grant, params)
    const dueAtMs = (body.due_date ? readDay(body.due_date) : undefined) ?? null
    await changeIssue(context, grant, { issue, patch: { dueAtMs } })
    return jsonReply(201, { due_date: dueAtMs === null ? null : apiTime(dueAtMs) })
  },
})

export const ISSUE_OPERATIONS: readonly AnyOperation[] = [
  list,
  create,
  get,
  edit,
  remove,
  editDeadline,
]
