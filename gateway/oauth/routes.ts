/** OAuth routes for applications; the page on which users authorize them is in web/accounts. */

import type { AnyRoute } from '../request/route.js'
import { ACCESS_TOKEN } from './access-token.js'
import { DISCOVERY } from './discovery.js'
import { INTROSPECT } from './introspect.js'
import { KEYS } from './keys.js'
import { REVOKE } from './revoke.js'
import { USERINFO } from './userinfo.js'

export const OAUTH_ROUTES: readonly AnyRoute[] = [
  ACCESS_TOKEN,
  INTROSPECT,
  REVOKE,
  USERINFO,
  KEYS,
  DISCOVERY,
]
