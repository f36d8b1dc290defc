/** ID tokens (OpenID Connect Core §2). */

import { sign } from 'node:crypto'
import type { OauthGrant } from '../../sql/accounts/oauth-grants.js'
import type { Context } from '../request/context.js'
import { claimsOf } from './claims.js'
import { privateKey } from './signing-key.js'

/** Returns an ID token for the grant's application, signed with RS256. */
export async function issueIdToken(
  context: Context,
  { user, application, nonce }: OauthGrant,
  lifeSeconds: number,
): Promise<string> {
  const { key, keyId } = await privateKey(context)
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const claims = {
    iss: context.settings.http.baseUrl,
    aud: application.clientId,
    iat: nowSeconds,
    exp: nowSeconds + lifeSeconds,
    ...(nonce === '' ? {} : { nonce }),
    ...claimsOf(user),
  }
  const text = [{ alg: 'RS256', typ: 'JWT', kid: keyId }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}
