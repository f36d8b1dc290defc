/** Webhooks of the caller over the API: of all of the caller's own repositories and packages. */

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

const list = defineOperation({
  id: 'userListHooks',
  method: 'GET',
  path: '/user/hooks',
  summary: "List the authenticated user's webhooks",
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(HOOK) },
  failures: [403],
  handle: (context, { grant, query }) =>
    answerHooks(context, {
      place: { ownerId: grant.user.id },
      path: '/user/hooks',
      query,
    }),
})

const create = defineOperation({
  id: 'userCreateHook',
  method: 'POST',
  path: '/user/hooks',
  summary: 'Create a hook',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: {},
  query: NO_QUERY,
  body: CREATE_HOOK_OPTION,
  success: { status: 201, schema: HOOK },
  failures: [403, 422],
  handle: (context, { grant, body }) => answerNewHook(context, { ownerId: grant.user.id }, body),
})

const get = defineOperation({
  id: 'userGetHook',
  method: 'GET',
  path: '/user/hooks/{id}',
  summary: 'Get a hook',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: { id: 'id of the hook' },
  query: NO_QUERY,
  success: { status: 200, schema: HOOK },
  failures: [403, 404],
  handle: (context, { grant, params }) =>
    answerHook(context, { place: { ownerId: grant.user.id }, params }),
})

const edit = defineOperation({
  id: 'userEditHook',
  method: 'PATCH',
  path: '/user/hooks/{id}',
  summary: 'Update a hook',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: { id: 'id of the hook' },
  query: NO_QUERY,
  body: EDIT_HOOK_OPTION,
  success: { status: 200, schema: HOOK },
  failures: [403, 404, 422],
  handle: (context, { grant, params, body }) =>
    answerHookPatch(context, { place: { ownerId: grant.user.id }, params }, body),
})

const remove = defineOperation({
  id: 'userDeleteHook',
  method: 'DELETE',
  path: '/user/hooks/{id}',
  summary: 'Delete a hook',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: { id: 'id of the hook' },
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  handle: (context, { grant, params }) =>
    answerHookRemoval(context, { place: { ownerId: grant.user.id }, params }),
})

export const USER_HOOK_OPERATIONS: readonly AnyOperation[] = [...[list, create, get, edit, remove]]
