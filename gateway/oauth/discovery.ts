/** Metadata of the OpenID provider (OpenID Connect Discovery 1.0 §4). */

import { OPENID_SCOPES } from '../auth/oauth-scopes.js'
import type { Route } from '../request/route.js'
import { OAUTH_SURFACE, oauthReply } from './surface.js'

export const DISCOVERY: Route<'open'> = {
  surface: OAUTH_SURFACE,
  method: 'GET',
  path: '/.well-known/openid-configuration',
  access: { kind: 'open' },
  scopes: [],
  handle({ settings }) {
    const issuer = settings.http.baseUrl
    const at = (name: string) => `${issuer}/login/oauth/${name}`
    return oauthReply(200, {
      issuer,
      authorization_endpoint: at('authorize'),
      token_endpoint: at('access_token'),
      jwks_uri: at('keys'),
      userinfo_endpoint: at('userinfo'),
      introspection_endpoint: at('introspect'),
      revocation_endpoint: at('revoke'),
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      id_token_signing_alg_values_supported: ['RS256'],
      subject_types_supported: ['public'],
      scopes_supported: OPENID_SCOPES,
      claims_supported: [
        'iss',
        'sub',
        'aud',
        'exp',
        'iat',
        'nonce',
        'name',
        'preferred_username',
        'email',
      ],
    })
  },
}
