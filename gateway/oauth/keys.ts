/** The keys with which id tokens are checked (RFC 7517). */

import type { Route } from '../route.js'
import { OAUTH_DOOR, oauthReply } from './door.js'
import { publicJwk } from './signing-key.js'

export const KEYS: Route<'open'> = {
  door: OAUTH_DOOR,
  method: 'GET',
  path: '/login/oauth/keys',
  access: { kind: 'open' },
  scopes: [],
  handle: async (context) => oauthReply(200, { keys: [await publicJwk(context)] }),
}
