/** Milestones over the API, by id or by title: list, create, read, edit, delete. */

import { type Static, Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import {
  createMilestone,
  deleteMilestone,
  findMilestone,
  listMilestones,
  type Milestone,
  updateMilestone,
} from '../../../sql/issues/milestones.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { titleOf } from '../../actions/issues/issue-access.js'
import type { Grants } from '../../auth/authorize.js'
import { MILESTONE, milestoneObject } from '../../objects/issues/milestone-object.js'
import { TIME } from '../../objects/schema.js'
import { readDay } from '../../objects/times.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { REPOSITORY_PARAMS } from './issue-params.js'

const MILESTONE_PARAMS = {
  ...REPOSITORY_PARAMS,
  id: 'the milestone to get, identified by ID and if not available by name',
}

const FIELDS = {
  description: Type.Optional(Type.String()),
  due_on: Type.Optional(TIME),
  state: Type.Optional(Type.Enum(['open', 'closed'])),
}

const CREATE_MILESTONE_OPTION = Type.Object(
  { title: Type.String({ minLength: 1 }), ...FIELDS },
  { $id: 'CreateMilestoneOption' },
)

const EDIT_MILESTONE_OPTION = Type.Object(
  { title: Type.Optional(Type.String()), ...FIELDS },
  { $id: 'EditMilestoneOption' },
)

const list = defineOperation({
  id: 'issueGetMilestonesList',
  method: 'GET',
  path: '/repos/{owner}/{repo}/milestones',
  summary: "Get all of a repository's opened milestones",
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:issue'],
  params: REPOSITORY_PARAMS,
  query: Type.Object({
    state: Type.Optional(
      Type.String({ description: 'Milestone state: open, closed or all; all by default' }),
    ),
    name: Type.Optional(Type.String({ description: 'filter by milestone name' })),
    ...PAGE_QUERY,
  }),
  success: { status: 200, schema: Type.Array(MILESTONE) },
  dependsOn: 'rows',
  failures: [404],
  async handle(context, { grant, query }) {
    const { repository } = grant
    const page = pageOf(query)
    const { state, name } = query
    const { entries, total } = await listMilestones(context.db, {
      repositoryId: repository.id,
      state: state === 'open' || state === 'closed' ? state : undefined,
      title: name || undefined,
      page,
    })
    const path = `/repos/${repository.owner.name}/${repository.name}/milestones`
    const given = { state: query.state, name }
    return pageReply(context, entries.map(milestoneObject), { path, query: given, page, total })
  },
})

const create = defineOperation({
  id: 'issueCreateMilestone',
  method: 'POST',
  path: '/repos/{owner}/{repo}/milestones',
  summary: 'Create a milestone',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:issue'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: CREATE_MILESTONE_OPTION,
  success: { status: 201, schema: MILESTONE },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, body }) {
    actingUserOf(grant)
    const milestone = await createMilestone(context.db, {
      repositoryId: grant.repository.id,
      title: titleOf(body.title),
      description: body.description ?? '',
      state: body.state ?? 'open',
      dueAtMs: dueOf(body),
    })
    return jsonReply(201, milestoneObject(milestone))
  },
})

function dueOf({ due_on }: Pick<Static<typeof EDIT_MILESTONE_OPTION>, 'due_on'>) {
  return due_on === undefined ? undefined : readDay(due_on)
}

const get = defineOperation({
  id: 'issueGetMilestone',
  method: 'GET',
  path: '/repos/{owner}/{repo}/milestones/{id}',
  summary: 'Get a milestone',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:issue'],
  params: MILESTONE_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: MILESTONE },
  dependsOn: 'rows',
  failures: [404],
  async handle(context, { grant, params }) {
    return jsonReply(200, milestoneObject(await milestoneOf(context, grant, params)))
  },
})

/** Returns the milestone `{id}` of the repository, by id or by title. Throws `not_found`. */
async function milestoneOf(
  context: Context,
  { repository }: Grants['repository'],
  params: Readonly<Record<string, string>>,
): Promise<Milestone> {
  const found = await findMilestone(context.db, repository.id, params['id'] ?? '')
  if (found === undefined) throw notFound()
  return found
}

const edit = defineOperation({
  id: 'issueEditMilestone',
  method: 'PATCH',
  path: '/repos/{owner}/{repo}/milestones/{id}',
  summary: 'Update a milestone',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:issue'],
  params: MILESTONE_PARAMS,
  query: NO_QUERY,
  body: EDIT_MILESTONE_OPTION,
  success: { status: 200, schema: MILESTONE },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, params, body }) {
    actingUserOf(grant)
    const { id } = await milestoneOf(context, grant, params)
    const milestone = await updateMilestone(context.db, id, {
      // Programs in Go send an empty title if it is not to be changed.
      title: body.title ? titleOf(body.title) : undefined,
      description: body.description,
      state: body.state,
      dueAtMs: dueOf(body),
    })
    return jsonReply(200, milestoneObject(milestone))
  },
})

const remove = defineOperation({
  id: 'issueDeleteMilestone',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/milestones/{id}',
  summary: 'Delete a milestone',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:issue'],
  params: MILESTONE_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle(context, { grant, params }) {
    actingUserOf(grant)
    const { id } = await milestoneOf(context, grant, params)
    if (!(await deleteMilestone(context.db, id))) throw notFound()
    return { status: 204 }
  },
})

export const MILESTONE_OPERATIONS: readonly AnyOperation[] = [list, create, get, edit, remove]
