/** Version over the API, which clients read first to find out what the server supports. */

import { Type } from 'typebox'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'

/**
 * Version of Gitea whose API is implemented. Clients parse it as a semantic version and enable
 * features by it, so it is not the version of this program.
 */
export const API_VERSION = '1.25.3'

const SERVER_VERSION = Type.Object({ version: Type.String() }, { $id: 'ServerVersion' })

const VERSION_REPLY = jsonReply(200, { version: API_VERSION })

const get = defineOperation({
  id: 'getVersion',
  method: 'GET',
  path: '/version',
  summary: 'Returns the version of the application',
  tags: ['miscellaneous'],
  access: { kind: 'anyone' },
  scopes: [],
  params: {},
  query: NO_QUERY,
  success: { status: 200, schema: SERVER_VERSION },
  failures: [],
  handle: () => VERSION_REPLY,
})

export const VERSION_OPERATIONS: readonly AnyOperation[] = [get]
