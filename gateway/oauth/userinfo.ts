/** UserInfo endpoint (OpenID Connect Core §5.3). */

import type { Route } from '../request/route.js'
import { claimsOf } from './claims.js'
import { OAUTH_SURFACE, oauthReply } from './surface.js'

export const USERINFO: Route<'signed-in'> = {
  surface: OAUTH_SURFACE,
  method: 'GET',
  path: '/login/oauth/userinfo',
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  handle: (_context, { grant: { user } }) => oauthReply(200, claimsOf(user)),
}
