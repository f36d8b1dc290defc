/** Authentication of OAuth clients (RFC 6749 §2.3). */

import { timingSafeEqual } from 'node:crypto'
import type { Request } from '../../conf/http.js'
import { findClient, type OauthApplication } from '../../sql/accounts/oauth-applications.js'
import type { Database } from '../../sql/database/database.js'
import { readCredentials } from './credentials.js'
import { OauthFailure } from './oauth-failure.js'
import { hashToken } from './token.js'

/** Form fields of a request to the token endpoint. */
export type OauthFields = ReadonlyMap<string, string>

/**
 * Returns the application that sends the request. It must send its secret unless it is public.
 * Throws `invalid_client`, and `invalid_request` if header and body name different clients.
 */
export async function identifyClient(
  db: Database,
  request: Request,
  fields: OauthFields,
): Promise<OauthApplication> {
  const claim = claimOf(request, fields)
  const found = await findClient(db, claim.id)
  const isAuthentic = found !== undefined && isSecretRight(found, claim.secret)
  if (!isAuthentic) {
    throw new OauthFailure('invalid_client', 'The client is unknown or its secret is wrong.')
  }
  return found.application
}

function isSecretRight(
  { application, secretHash }: NonNullable<Awaited<ReturnType<typeof findClient>>>,
  secret: string,
): boolean {
  if (!application.isConfidential) return true
  if (secretHash === undefined) return false
  return timingSafeEqual(Buffer.from(hashToken(secret)), Buffer.from(secretHash))
}

/** Returns the id and secret in a request. In Basic, a client may send its id without a secret. */
function claimOf({ headers }: Request, fields: OauthFields) {
  const named = fields.get('client_id') ?? ''
  const credentials = readCredentials(headers.get('authorization'))
  switch (credentials.kind) {
    case 'none':
      return { id: named, secret: fields.get('client_secret') ?? '' }
    case 'malformed':
      throw new OauthFailure('invalid_client', 'The header Authorization must be Basic.')
    case 'token':
    case 'password': {
      const isAlone = credentials.kind === 'token'
      const id = isAlone ? credentials.token : credentials.name
      if (named !== '' && named !== id) {
        const message = 'The header Authorization and client_id name different clients.'
        throw new OauthFailure('invalid_request', message)
      }
      const secret = isAlone ? (fields.get('client_secret') ?? '') : credentials.password
      return { id, secret }
    }
  }
}
