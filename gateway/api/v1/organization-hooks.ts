/** Webhooks of an organization over the API, for its owners. */

import { Type } from 'typebox'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY } from '../paging.js'
import {
  answerHook,
  answerHookPatch,
  answerHookRemoval,
  answerHooks,
  answerNewHook,
} from './hook-answers.js'
import { CREATE_HOOK_OPTION, EDIT_HOOK_OPTION, HOOK } from './hook-object.js'

const PARAMS = { org: 'name of the organization' }

const list = defineOperation({
  id: 'orgListHooks',
  method: 'GET',
  path: '/orgs/{org}/hooks',
  summary: "List an organization's webhooks",
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['read:organization'],
  params: PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(HOOK) },
  failures: [403, 404],
  handle: (context, { grant, query }) =>
    answerHooks(context, {
      place: { ownerId: grant.organization.id },
      path: `/orgs/${grant.organization.name}/hooks`,
      query,
    }),
})

const create = defineOperation({
  id: 'orgCreateHook',
  method: 'POST',
  path: '/orgs/{org}/hooks',
  summary: 'Create a hook',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['write:organization'],
  params: PARAMS,
  query: NO_QUERY,
  body: CREATE_HOOK_OPTION,
  success: { status: 201, schema: HOOK },
  failures: [403, 404, 422],
  handle: (context, { grant, body }) =>
    answerNewHook(context, { ownerId: grant.organization.id }, body),
})

const get = defineOperation({
  id: 'orgGetHook',
  method: 'GET',
  path: '/orgs/{org}/hooks/{id}',
  summary: 'Get a hook',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['read:organization'],
  params: { ...PARAMS, id: 'id of the hook' },
  query: NO_QUERY,
  success: { status: 200, schema: HOOK },
  failures: [403, 404],
  handle: (context, { grant, params }) =>
    answerHook(context, { place: { ownerId: grant.organization.id }, params }),
})

const edit = defineOperation({
  id: 'orgEditHook',
  method: 'PATCH',
  path: '/orgs/{org}/hooks/{id}',
  summary: 'Update a hook',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['write:organization'],
  params: { ...PARAMS, id: 'id of the hook' },
  query: NO_QUERY,
  body: EDIT_HOOK_OPTION,
  success: { status: 200, schema: HOOK },
  failures: [403, 404, 422],
  handle: (context, { grant, params, body }) =>
    answerHookPatch(context, { place: { ownerId: grant.organization.id }, params }, body),
})

const remove = defineOperation({
  id: 'orgDeleteHook',
  method: 'DELETE',
  path: '/orgs/{org}/hooks/{id}',
  summary: 'Delete a hook',
  tags: ['organization'],
  access: { kind: 'organization', role: 'owner' },
  scopes: ['write:organization'],
  params: { ...PARAMS, id: 'id of the hook' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  handle: (context, { grant, params }) =>
    answerHookRemoval(context, { place: { ownerId: grant.organization.id }, params }),
})

export const ORGANIZATION_HOOK_OPERATIONS: readonly AnyOperation[] = [
  ...[list, create, get, edit, remove],
]
