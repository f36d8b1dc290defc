/** Webhooks of the site over the API, for site administrators. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { HookSearch, HookSite } from '../../../sql/webhooks/webhooks.js'
import type { AnyOperation } from '../operation.js'
import { hookOperations } from './webhooks.js'

const KINDS = ['system', 'default', 'all'] as const

export const SITE_HOOK_OPERATIONS: readonly AnyOperation[] = hookOperations({
  path: '/admin/hooks',
  category: 'admin',
  access: { kind: 'admin' },
  params: {},
  failures: [403],
  names: {
    list: ['adminListHooks', "List system's webhooks"],
    create: ['adminCreateHook', 'Create a hook'],
    get: ['adminGetHook', 'Get a hook'],
    edit: ['adminEditHook', 'Update a hook'],
    remove: ['adminDeleteHook', 'Delete a hook'],
  },
  listQuery: {
    type: Type.Optional(
      Type.String({ description: 'system, default or all webhooks; by default system' }),
    ),
  },
  locate: (_grant, { query, config }) => ({
    place: { site: newSite(config?.['is_system_webhook']) },
    search: query === undefined ? { site: 'all' } : listedSite(query['type']),
    path: '/admin/hooks',
    query: { type: String(query?.['type'] ?? '') },
  }),
})

/** Returns the listed kind; other values list the system webhooks, as in Gitea. */
function listedSite(text: unknown): HookSearch {
  return { site: KINDS.find((kind) => kind === text) ?? 'system' }
}

/** Spellings of true and false in Go, in which clients of Gitea send them. */
const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True']
const FALSE = ['', '0', 'f', 'F', 'false', 'FALSE', 'False']

/** Returns the kind of a new webhook, from its setting `is_system_webhook`. */
function newSite(text = ''): HookSite {
  if (TRUE.includes(text)) return 'system'
  if (FALSE.includes(text)) return 'default'
  throw new Failure('invalid', 'Invalid is_system_webhook value')
}
