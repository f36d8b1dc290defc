/** NodeInfo: the software and the number of users of this server, without federation. */

import { Type } from 'typebox'
import { searchUsers } from '../../../sql/accounts/user-search.js'
import { isRegistrationOpen } from '../../../sql/admin/site.js'
import { API_PREFIX } from '../../objects/api-prefix.js'
import type { Route } from '../../request/route.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { API_SURFACE, jsonReply } from '../surface.js'
import { API_VERSION } from './version.js'

const nodeInfo = defineOperation({
  id: 'getNodeInfo',
  method: 'GET',
  path: '/nodeinfo',
  summary: 'Returns the nodeinfo of the application',
  tags: ['miscellaneous'],
  access: { kind: 'anyone' },
  scopes: [],
  params: {},
  query: NO_QUERY,
  success: {
    status: 200,
    schema: Type.Object(
      {
        version: Type.String(),
        software: Type.Object({
          name: Type.String(),
          version: Type.String(),
          homepage: Type.String(),
        }),
        protocols: Type.Array(Type.String()),
        services: Type.Object({
          inbound: Type.Array(Type.String()),
          outbound: Type.Array(Type.String()),
        }),
        openRegistrations: Type.Boolean(),
        usage: Type.Object({ users: Type.Object({ total: Type.Integer() }) }),
        metadata: Type.Object({}),
      },
      { $id: 'NodeInfo' },
    ),
  },
  failures: [],
  async handle({ db, settings }) {
    const { total } = await searchUsers(db, { viewer: { kind: 'anyone' } }, { page: 1, limit: 1 })
    return jsonReply(200, {
      version: '2.1',
      software: { name: 'gatehouse', version: API_VERSION, homepage: settings.http.baseUrl },
      protocols: [],
      services: { inbound: [], outbound: [] },
      openRegistrations: await isRegistrationOpen(db),
      usage: { users: { total } },
      metadata: {},
    })
  },
})

export const NODE_INFO_OPERATIONS: readonly AnyOperation[] = [nodeInfo]

/** Links to the NodeInfo documents (NodeInfo 2.1, "Discovery"). */
export const NODE_INFO_LINKS: Route<'open'> = {
  surface: API_SURFACE,
  method: 'GET',
  path: '/.well-known/nodeinfo',
  access: { kind: 'open' },
  scopes: [],
  async handle({ settings }) {
    const href = `${settings.http.baseUrl}${API_PREFIX}/nodeinfo`
    return jsonReply(200, {
      links: [{ href, rel: 'http://nodeinfo.diaspora.software/ns/schema/2.1' }],
    })
  },
}
