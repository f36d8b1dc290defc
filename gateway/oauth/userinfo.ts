/** Who has signed in with an application, as OpenID Connect tells it (Core §5.3). */

import type { Route } from '../route.js'
import { OAUTH_DOOR, oauthReply } from './door.js'

export const USERINFO: Route<'signed-in'> = {
  door: OAUTH_DOOR,
  method: 'GET',
  path: '/login/oauth/userinfo',
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  handle: (_context, { grant: { user } }) =>
    oauthReply(200, {
      sub: String(user.id),
      name: user.fullName === '' ? user.name : user.fullName,
      preferred_username: user.name,
      email: user.email,
    }),
}
