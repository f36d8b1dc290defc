/** Token endpoint (RFC 6749 §3.2): exchanges a code or a refresh token for new tokens. */

import { createHash } from 'node:crypto'
import type { OauthApplication } from '../../sql/accounts/oauth-applications.js'
import type { OauthGrant } from '../../sql/accounts/oauth-grants.js'
import {
  type FoundCode,
  findCode,
  findRefresh,
  spendCode,
  spendRefresh,
  type TokenPair,
} from '../../sql/accounts/oauth-tokens.js'
import { canSignIn } from '../auth/authenticate.js'
import { identifyClient, type OauthFields } from '../auth/oauth-client.js'
import { OauthFailure } from '../auth/oauth-failure.js'
import { newOauthSecret } from '../auth/oauth-secret.js'
import { hashToken } from '../auth/token.js'
import type { Context } from '../request/context.js'
import type { Route } from '../request/route.js'
import { readOauthFields } from './fields.js'
import { issueIdToken } from './id-token.js'
import { OAUTH_SURFACE, oauthReply } from './surface.js'

const ACCESS_SECONDS = 3_600
const REFRESH_MS = 30 * 86_400_000

export const ACCESS_TOKEN: Route<'open'> = {
  surface: OAUTH_SURFACE,
  method: 'POST',
  path: '/login/oauth/access_token',
  // The handler authenticates the client; credentials of users are not accepted.
  access: { kind: 'open' },
  scopes: [],
  async handle(context, { request }) {
    const fields = await readOauthFields(request)
    const client = await identifyClient(context.db, request, fields)
    const next = newPair()
    const grant = await takeGrant(context, { client, fields, pair: next.pair })
    const isIdAsked = grant.openidScopes.includes('openid')
    return oauthReply(200, {
      access_token: next.access,
      token_type: 'bearer',
      expires_in: ACCESS_SECONDS,
      refresh_token: next.refresh,
      scope: [...grant.openidScopes, ...grant.scopes].join(' '),
      ...(isIdAsked ? { id_token: await issueIdToken(context, grant, ACCESS_SECONDS) } : {}),
    })
  },
}

interface Exchange {
  readonly client: OauthApplication
  readonly fields: OauthFields
  readonly pair: TokenPair
}

async function takeGrant(context: Context, exchange: Exchange): Promise<OauthGrant> {
  switch (exchange.fields.get('grant_type')) {
    case 'authorization_code':
      return await takeCode(context, exchange)
    case 'refresh_token':
      return await takeRefresh(context, exchange)
    default: {
      const known = 'authorization_code and refresh_token'
      throw new OauthFailure('unsupported_grant_type', `The grant_type must be one of ${known}.`)
    }
  }
}

async function takeCode(context: Context, { client, fields, pair }: Exchange): Promise<OauthGrant> {
  const found = await findCode(context.db, hashToken(fields.get('code') ?? ''))
  if (found === undefined) throw new OauthFailure('invalid_grant', 'The code is unknown.')
  checkHolder(found.grant, client)
  // A code that was used before revokes the grant, whatever the other fields are.
  if (!found.isUsed) checkCode(found, fields)
  if (!(await spendCode(context.db, found.grant.id, pair))) throw usedTwice(context, found.grant)
  return found.grant
}

/** Throws `invalid_grant` unless the code is valid and was requested by this client instance. */
function checkCode({ expiresAtMs, redirectUri, challenge }: FoundCode, fields: OauthFields): void {
  if (expiresAtMs <= Date.now()) throw new OauthFailure('invalid_grant', 'The code has expired.')
  if ((fields.get('redirect_uri') ?? '') !== redirectUri) {
    throw new OauthFailure(
      'invalid_grant',
      'The redirect_uri differs from that of the authorization request.',
    )
  }
  const verifier = fields.get('code_verifier') ?? ''
  if (challengeOf(verifier) !== challenge) {
    throw new OauthFailure('invalid_grant', 'The code_verifier does not match the code_challenge.')
  }
}

/** Returns the S256 challenge of a verifier (RFC 7636 §4.2); empty for an empty verifier. */
function challengeOf(verifier: string): string {
  return verifier === '' ? '' : createHash('sha256').update(verifier).digest('base64url')
}

async function takeRefresh(
  context: Context,
  { client, fields, pair }: Exchange,
): Promise<OauthGrant> {
  const found = await findRefresh(context.db, hashToken(fields.get('refresh_token') ?? ''))
  if (found === undefined || found.expiresAtMs <= Date.now()) {
    throw new OauthFailure('invalid_grant', 'The refresh token is unknown or has expired.')
  }
  checkHolder(found.grant, client)
  if (!(await spendRefresh(context.db, found, pair))) throw usedTwice(context, found.grant)
  return found.grant
}

function checkHolder({ applicationId, user }: OauthGrant, client: OauthApplication): void {
  if (applicationId !== client.id) {
    throw new OauthFailure('invalid_grant', 'The code or token was issued to another client.')
  }
  if (!canSignIn(user)) throw new OauthFailure('invalid_grant', 'The account may not sign in.')
}

function usedTwice({ log }: Context, { id, userId, applicationId }: OauthGrant): OauthFailure {
  const subject = { event: 'oauth-reuse', grantId: id, userId, applicationId }
  log.warn(subject, 'a code or refresh token was used twice, so its grant was revoked')
  return new OauthFailure(
    'invalid_grant',
    'The code or token was used before, so its grant was revoked. Request authorization again.',
  )
}

function newPair() {
  const [access, refresh] = [newOauthSecret('access'), newOauthSecret('refresh')]
  const nowMs = Date.now()
  const pair: TokenPair = {
    accessHash: hashToken(access),
    accessExpiresAtMs: nowMs + ACCESS_SECONDS * 1_000,
    refreshHash: hashToken(refresh),
    refreshExpiresAtMs: nowMs + REFRESH_MS,
  }
  return { access, refresh, pair }
}
