/** Webhooks of the caller over the API, for all of the caller's repositories and packages. */

import type { AnyOperation } from '../operation.js'
import { hookOperations } from './webhooks.js'

export const USER_HOOK_OPERATIONS: readonly AnyOperation[] = hookOperations({
  path: '/user/hooks',
  category: 'user',
  access: { kind: 'signed-in' },
  params: {},
  failures: [403],
  names: {
    list: ['userListHooks', "List the authenticated user's webhooks"],
    create: ['userCreateHook', 'Create a hook'],
    get: ['userGetHook', 'Get a hook'],
    edit: ['userEditHook', 'Update a hook'],
    remove: ['userDeleteHook', 'Delete a hook'],
  },
  locate: ({ user }) => ({ place: { ownerId: user.id }, path: '/user/hooks' }),
})
