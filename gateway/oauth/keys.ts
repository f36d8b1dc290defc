/** Public keys for verifying ID tokens (RFC 7517). */

import type { Route } from '../request/route.js'
import { publicJwk } from './signing-key.js'
import { OAUTH_SURFACE, oauthReply } from './surface.js'

export const KEYS: Route<'open'> = {
  surface: OAUTH_SURFACE,
  method: 'GET',
  path: '/login/oauth/keys',
  access: { kind: 'open' },
  scopes: [],
  handle: async (context) => oauthReply(200, { keys: [await publicJwk(context)] }),
}
