/** Webhooks of an organization over the API, for its owners. */

import type { AnyOperation } from '../operation.js'
import { hookOperations } from './webhooks.js'

export const ORGANIZATION_HOOK_OPERATIONS: readonly AnyOperation[] = hookOperations({
  path: '/orgs/{org}/hooks',
  category: 'organization',
  access: { kind: 'organization', role: 'owner' },
  params: { org: 'name of the organization' },
  failures: [403, 404],
  names: {
    list: ['orgListHooks', "List an organization's webhooks"],
    create: ['orgCreateHook', 'Create a hook'],
    get: ['orgGetHook', 'Get a hook'],
    edit: ['orgEditHook', 'Update a hook'],
    remove: ['orgDeleteHook', 'Delete a hook'],
  },
  locate: ({ organization: { id, name } }) => ({
    place: { ownerId: id },
    path: `/orgs/${name}/hooks`,
  }),
})
