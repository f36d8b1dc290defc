/** What an application asks a user for (RFC 6749 §4.1.1, RFC 7636), and the code that grants it. */

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

/** Who asks, and where the answer leads: nothing is ever said at another address. */
export interface AuthorizingClient extends OauthClient {
  readonly address: string
}

/** The application that a request names. Throws `bad_request` unless its address is registered. */
export async function findAuthorizingClient(
  db: Database,
  fields: URLSearchParams,
): Promise<AuthorizingClient> {
  const [clientId, ...others] = fields.getAll('client_id')
  const client = others.length === 0 ? await findClient(db, clientId ?? '') : undefined
  if (client === undefined) {
    throw new Failure('bad_request', 'The application that leads here is not registered.')
  }
  const [asked = '', ...more] = fields.getAll('redirect_uri')
  const address = more.length === 0 ? registeredAddress(client.application, asked) : undefined
  if (address === undefined) {
    const fault = 'wants you led to an address that it has not registered'
    throw new Failure('bad_request', `The application ${client.application.name} ${fault}.`)
  }
  return { ...client, address }
}

/** What an application asks for. */
export interface AuthorizationParameters extends RequestedScopes {
  readonly asker: AuthorizingClient
  /** As sent; empty where it was not. */
  readonly redirectUri: string
  readonly challenge: string
  readonly nonce: string
}

/** Throws an OauthFailure, for the application to hear. */
export function readInput(
  asker: AuthorizingClient,
  fields: URLSearchParams,
): AuthorizationParameters {
  const field = (name: string) => {
    const [value = '', ...others] = fields.getAll(name)
    if (others.length > 0) throw new OauthFailure('invalid_request', `${name} comes twice.`)
    return value
  }
  if (field('response_type') !== 'code') {
    throw new OauthFailure('unsupported_response_type', 'The only response_type is code.')
  }
  const challenge = readChallenge(asker, {
    challenge: field('code_challenge'),
    method: field('code_challenge_method'),
  })
  const nonce = field('nonce')
  if (nonce.length > NONCE_CHARACTERS_MAX) {
    throw new OauthFailure('invalid_request', 'The nonce is too long.')
  }
  const asked = readOauthScopes(field('scope'))
  return { asker, redirectUri: field('redirect_uri'), challenge, nonce, ...asked }
}

/** A public client proves with it that the code comes back to the one who asked. */
function readChallenge(
  { application }: AuthorizingClient,
  { challenge, method }: { readonly challenge: string; readonly method: string },
): string {
  if (challenge === '' && application.isConfidential) return ''
  if (challenge === '') {
    throw new OauthFailure('invalid_request', 'A client without a secret needs a code_challenge.')
  }
  if (method !== 'S256' || !/^[\w-]{43}$/.test(challenge)) {
    throw new OauthFailure('invalid_request', 'The only code_challenge_method is S256.')
  }
  return challenge
}

/**
 * Whether the user need not be asked again. Who claims to be a public client need not be it
 * (RFC 6749 §10.2), so there the owner of the application has to have said so.
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

/** Grants what is asked for. Returns the code, which is told to the application alone. */
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
