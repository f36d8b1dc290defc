/** The list of what applications ask that sign people in; people themselves see a page of web/. */

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
