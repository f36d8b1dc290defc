/** Labels of a repository over the API: list, make, read, change, remove. */

import { Type } from 'typebox'
import {
  createLabel,
  deleteLabel,
  findLabel,
  listLabels,
  updateLabel,
} from '../../../sql/labels.js'
import { jsonReply } from '../door.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { noSuchThing, numberOf, REPOSITORY_PARAMS } from './issue-access.js'
import {
  CREATE_LABEL_OPTION,
  EDIT_LABEL_OPTION,
  LABEL,
  labelObject,
  readLabel,
  readLabelPatch,
} from './label-object.js'
import { writerOf } from './writer.js'

const LABEL_PARAMS = { ...REPOSITORY_PARAMS, id: 'id of the label' }

const list = defineOperation({
  id: 'issueListLabels',
  method: 'GET',
  path: '/repos/{owner}/{repo}/labels',
  summary: "Get all of a repository's labels",
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:issue'],
  params: REPOSITORY_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(LABEL) },
  failures: [404],
  async handle(context, { grant, query }) {
    const { repository } = grant
    const page = pageOf(query)
    const owner = { repositoryId: repository.id }
    const { entries, total } = await listLabels(context.db, owner, page)
    const objects = entries.map((label) => labelObject(context, label, repository))
    const path = `/repos/${repository.owner.name}/${repository.name}/labels`
    return pageReply(context, objects, { path, page, total })
  },
})

const create = defineOperation({
  id: 'issueCreateLabel',
  method: 'POST',
  path: '/repos/{owner}/{repo}/labels',
  summary: 'Create a label',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:issue'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: CREATE_LABEL_OPTION,
  success: { status: 201, schema: LABEL },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, body }) {
    writerOf(grant)
    const { repository } = grant
    const owner = { repositoryId: repository.id }
    const label = await createLabel(context.db, owner, readLabel(body))
    return jsonReply(201, labelObject(context, label, repository))
  },
})

const get = defineOperation({
  id: 'issueGetLabel',
  method: 'GET',
  path: '/repos/{owner}/{repo}/labels/{id}',
  summary: 'Get a single label',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:issue'],
  params: LABEL_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: LABEL },
  failures: [404],
  async handle(context, { grant, params }) {
    const { repository } = grant
    const owner = { repositoryId: repository.id }
    const label = await findLabel(context.db, owner, numberOf(params, 'id'))
    if (label === undefined) throw noSuchThing()
    return jsonReply(200, labelObject(context, label, repository))
  },
})

const edit = defineOperation({
  id: 'issueEditLabel',
  method: 'PATCH',
  path: '/repos/{owner}/{repo}/labels/{id}',
  summary: 'Update a label',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:issue'],
  params: LABEL_PARAMS,
  query: NO_QUERY,
  body: EDIT_LABEL_OPTION,
  success: { status: 200, schema: LABEL },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, params, body }) {
    writerOf(grant)
    const { repository } = grant
    const label = await updateLabel(
      context.db,
      { repositoryId: repository.id },
      { ...readLabelPatch(body), id: numberOf(params, 'id') },
    )
    if (label === undefined) throw noSuchThing()
    return jsonReply(200, labelObject(context, label, repository))
  },
})

const remove = defineOperation({
  id: 'issueDeleteLabel',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/labels/{id}',
  summary: 'Delete a label',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:issue'],
  params: LABEL_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle(context, { grant, params }) {
    writerOf(grant)
    const owner = { repositoryId: grant.repository.id }
    if (!(await deleteLabel(context.db, owner, numberOf(params, 'id')))) throw noSuchThing()
    return { status: 204 }
  },
})

export const LABEL_OPERATIONS: readonly AnyOperation[] = [list, create, get, edit, remove]
