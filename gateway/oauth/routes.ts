/** The list of what applications ask that sign people in; people themselves see a page of web/. */

import type { AnyRoute } from '../route.js'
import { ACCESS_TOKEN } from './access-token.js'
import { INTROSPECT } from './introspect.js'
import { USERINFO } from './userinfo.js'

export const OAUTH_ROUTES: readonly AnyRoute[] = [ACCESS_TOKEN, INTROSPECT, USERINFO]
