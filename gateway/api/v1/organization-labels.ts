/** Labels of an organization over the API, which all of its repositories may use. */

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
import { noSuchThing, numberOf } from './issue-access.js'
import {
  CREATE_LABEL_OPTION,
  EDIT_LABEL_OPTION,
  LABEL,
  labelObject,
  readLabel,
  readLabelPatch,
} from './label-object.js'

const ORGANIZATION_PARAMS = { org: 'name of the organization' }

const LABEL_PARAMS = { ...ORGANIZATION_PARAMS, id: 'id of the label' }

const list = defineOperation({
  id: 'orgListLabels',
  method: 'GET',
  path: '/orgs/{org}/labels',
  summary: "List an organization's labels",
  tags: ['organization'],
  access: { kind: 'organization', role: 'visible' },
  scopes: ['read:organization'],
  params: ORGANIZATION_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(LABEL) },
  failures: [404],
  async handle(context, { grant, query }) {
    const { organization } = grant
    const page = pageOf(query)
    const owner = { organizationId: organization.id }
    const { entries, total } = await listLabels(context.db, owner, page)
    const objects = entries.map((label) => labelObject(context, label, { owner: organization }))
    const path = `/orgs/${organization.name}/labels`
    return pageReply(context, objects, { path, page, total })
  },
})

const create = defineOperation({
  id: 'orgCreateLabel',
  method: 'POST',
  path: '/orgs/{org}/labels',
  summary: 'Create a label for an organization',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['write:organization'],
  params: ORGANIZATION_PARAMS,
  query: NO_QUERY,
  body: CREATE_LABEL_OPTION,
  success: { status: 201, schema: LABEL },
  failures: [403, 404, 422],
  async handle(context, { grant, body }) {
    const { organization } = grant
    const owner = { organizationId: organization.id }
    const label = await createLabel(context.db, owner, readLabel(body))
    return jsonReply(201, labelObject(context, label, { owner: organization }))
  },
})

const get = defineOperation({
  id: 'orgGetLabel',
  method: 'GET',
  path: '/orgs/{org}/labels/{id}',
  summary: 'Get a single label',
  tags: ['organization'],
  access: { kind: 'organization', role: 'visible' },
  scopes: ['read:organization'],
  params: LABEL_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: LABEL },
  failures: [404],
  async handle(context, { grant, params }) {
    const { organization } = grant
    const owner = { organizationId: organization.id }
    const label = await findLabel(context.db, owner, numberOf(params, 'id'))
    if (label === undefined) throw noSuchThing()
    return jsonReply(200, labelObject(context, label, { owner: organization }))
  },
})

const edit = defineOperation({
  id: 'orgEditLabel',
  method: 'PATCH',
  path: '/orgs/{org}/labels/{id}',
  summary: 'Update a label',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['write:organization'],
  params: LABEL_PARAMS,
  query: NO_QUERY,
  body: EDIT_LABEL_OPTION,
  success: { status: 200, schema: LABEL },
  failures: [403, 404, 422],
  async handle(context, { grant, params, body }) {
    const { organization } = grant
    const label = await updateLabel(
      context.db,
      { organizationId: organization.id },
      { ...readLabelPatch(body), id: numberOf(params, 'id') },
    )
    if (label === undefined) throw noSuchThing()
    return jsonReply(200, labelObject(context, label, { owner: organization }))
  },
})

const remove = defineOperation({
  id: 'orgDeleteLabel',
  method: 'DELETE',
  path: '/orgs/{org}/labels/{id}',
  summary: 'Delete a label',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['write:organization'],
  params: LABEL_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const owner = { organizationId: grant.organization.id }
    if (!(await deleteLabel(context.db, owner, numberOf(params, 'id')))) throw noSuchThing()
    return { status: 204 }
  },
})

export const ORGANIZATION_LABEL_OPERATIONS: readonly AnyOperation[] = [
  list,
  create,
  get,
  edit,
  remove,
]
