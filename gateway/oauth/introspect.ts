/** Introspection of an application's own access tokens (RFC 7662). */

import { findAccess } from '../../sql/accounts/oauth-tokens.js'
import { canSignIn } from '../auth/authenticate.js'
import { identifyClient } from '../auth/oauth-client.js'
import { OauthFailure } from '../auth/oauth-failure.js'
import { hashToken } from '../auth/token.js'
import type { Route } from '../request/route.js'
import { readOauthFields } from './fields.js'
import { OAUTH_SURFACE, oauthReply } from './surface.js'

export const INTROSPECT: Route<'open'> = {
  surface: OAUTH_SURFACE,
  method: 'POST',
  path: '/login/oauth/introspect',
  access: { kind: 'open' },
  scopes: [],
  async handle({ db, settings }, { request }) {
    const fields = await readOauthFields(request)
    const client = await identifyClient(db, request, fields)
    if (!client.isConfidential) {
      throw new OauthFailure('invalid_client', 'Introspection requires a client with a secret.')
    }
    const found = await findAccess(db, hashToken(fields.get('token') ?? ''))
    const isOwn = found?.grant.applicationId === client.id
    if (found === undefined || !isOwn || !canSignIn(found.grant.user)) {
      return oauthReply(200, { active: false })
    }
    const { grant, createdAtMs, expiresAtMs } = found
    return oauthReply(200, {
      active: true,
      scope: [...grant.openidScopes, ...grant.scopes].join(' '),
      client_id: client.clientId,
      username: grant.user.name,
      token_type: 'bearer',
      iss: settings.http.baseUrl,
      sub: String(grant.userId),
      aud: client.clientId,
      iat: Math.floor(createdAtMs / 1_000),
      exp: Math.floor(expiresAtMs / 1_000),
    })
  },
}
