/** Revocation (RFC 7009): a token's application revokes the whole grant of the token. */

import { endGrant } from '../../sql/accounts/oauth-grants.js'
import { findAccess, findRefresh } from '../../sql/accounts/oauth-tokens.js'
import { identifyClient } from '../auth/oauth-client.js'
import { hashToken } from '../auth/token.js'
import type { Route } from '../request/route.js'
import { readOauthFields } from './fields.js'
import { OAUTH_SURFACE, oauthReply } from './surface.js'

export const REVOKE: Route<'open'> = {
  surface: OAUTH_SURFACE,
  method: 'POST',
  path: '/login/oauth/revoke',
  access: { kind: 'open' },
  scopes: [],
  async handle({ db }, { request }) {
    const fields = await readOauthFields(request)
    const client = await identifyClient(db, request, fields)
    const hash = hashToken(fields.get('token') ?? '')
    const found = (await findAccess(db, hash)) ?? (await findRefresh(db, hash))
    if (found?.grant.applicationId === client.id) await endGrant(db, found.grant.id)
    // The response for invalid tokens and those of other clients is the same (§2.2).
    return oauthReply(200, {})
  },
}
