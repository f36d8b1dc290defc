/** Authorization requests of OAuth applications (RFC 6749 §4.1.1, RFC 7636) and their codes. */

import { Failure } from '../../../conf/failures.js'
import { findClient, type OauthClient } from '../../../sql/accounts/oauth-applications.js'
import { createGrant, type GrantTerms, hasGrant } from '../../../sql/accounts/oauth-grants.js'
import type { Database } from '../../../sql/database/database.js'
import { OauthFailure } from '../../auth/oauth-failure.js'
import { type RequestedScopes, readOauthScopes } from '../../auth/oauth-scopes.js'
import { newOauthSecret } from '../../auth/oauth-secret.js'
import { registeredAddress } from '../../auth/redirect-address.js'
import { hashToken } from '../../auth/token.js'

const CODE_MS = 5 * 60_000
const NONCE_CHARACTERS_MAX = 255

/** Requesting application, and the registered address to which the response is sent. */
export interface AuthorizingClient extends OauthClient {
  readonly address: string
}

/**
 * Returns the application that a request names. Throws `bad_request` if the application or its
 * redirect address is not registered.
 */
export async function findAuthorizingClient(
  db: Database,
  fields: URLSearchParams,
): Promise<AuthorizingClient> {
  const [clientId, ...others] = fields.getAll('client_id')
  const client = others.length === 0 ? await findClient(db, clientId ?? '') : undefined
  if (client === undefined) {
    throw new Failure(
      'bad_request',
      'The parameter client_id does not name a registered application.',
    )
  }
  const [asked = '', ...more] = fields.getAll('redirect_uri')
  const address = more.length === 0 ? registeredAddress(client.application, asked) : undefined
  if (address === undefined) {
    const fault = 'requests a redirect to an address that it has not registered'
    throw new Failure('bad_request', `The application ${client.application.name} ${fault}.`)
  }
  return { ...client, address }
}

/** Parameters of an authorization request. */
export interface AuthorizationParameters extends RequestedScopes {
  readonly asker: AuthorizingClient
  /** Parameter `redirect_uri` as sent; empty if absent. */
  readonly redirectUri: string
  readonly challenge: string
  readonly nonce: string
}

/** Reads the parameters. Throws an OauthFailure, which is reported to the application. */
export function readInput(
  asker: AuthorizingClient,
  fields: URLSearchParams,
): AuthorizationParameters {
  const field = (name: string) => {
    const [value = '', ...others] = fields.getAll(name)
    if (others.length > 0)
      throw new OauthFailure('invalid_request', `${name} is given more than once.`)
    return value
  }
  if (field('response_type') !== 'code') {
    throw new OauthFailure('unsupported_response_type', 'response_type must be code.')
  }
  const challenge = readChallenge(asker, {
    challenge: field('code_challenge'),
    method: field('code_challenge_method'),
  })
  const nonce = field('nonce')
  if (nonce.length > NONCE_CHARACTERS_MAX) {
    throw new OauthFailure(
      'invalid_request',
      `nonce has more than ${NONCE_CHARACTERS_MAX} characters.`,
    )
  }
  const asked = readOauthScopes(field('scope'))
  return { asker, redirectUri: field('redirect_uri'), challenge, nonce, ...asked }
}

/**
 * Reads the code challenge. A public client must send one, because it has no secret with which it
 * could prove that it is the client that requested the code.
 */
function readChallenge(
  { application }: AuthorizingClient,
  { challenge, method }: { readonly challenge: string; readonly method: string },
): string {
  if (challenge === '' && application.isConfidential) return ''
  if (challenge === '') {
    throw new OauthFailure('invalid_request', 'A client without a secret needs a code_challenge.')
  }
  if (method !== 'S256' || !/^[\w-]{43}$/.test(challenge)) {
    throw new OauthFailure(
      'invalid_request',
      'code_challenge must have 43 characters, and its method must be S256.',
    )
  }
  return challenge
}

/**
 * Returns true if the user's consent is not needed again. A public client can be impersonated
 * (RFC 6749 §10.2), so its owner must have enabled that consent is skipped.
 */
export async function isGranted(
  db: Database,
  userId: number,
  input: AuthorizationParameters,
): Promise<boolean> {
  const { isConfidential, skipsSecondConsent } = input.asker.application
  if (!isConfidential && !skipsSecondConsent) return false
  return await hasGrant(db, termsOf(userId, input))
}

/** Creates the grant. Returns its authorization code, which only the application may get. */
export async function grantCode(
  db: Database,
  userId: number,
  input: AuthorizationParameters,
): Promise<string> {
  const code = newOauthSecret('code')
  const { redirectUri, challenge, nonce } = input
  const expiresAtMs = Date.now() + CODE_MS
  await createGrant(db, {
    ...termsOf(userId, input),
    nonce,
    code: { hash: hashToken(code), expiresAtMs, redirectUri, challenge },
  })
  return code
}

function termsOf(
  userId: number,
  { asker, scopes, openidScopes }: AuthorizationParameters,
): GrantTerms {
  return { userId, applicationId: asker.application.id, scopes, openidScopes }
}
