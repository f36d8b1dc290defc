/** Requests of an OAuth2 application: authorization codes and tokens. */

import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import {
  findAuthorizingClient,
  grantCode,
  readInput,
} from '../../gateway/actions/accounts/grant-code.js'
import { makeApplication } from '../../gateway/actions/accounts/oauth-application.js'
import type { User } from '../../sql/accounts/users.js'
import { startGateway } from './gateway.js'
import { withPassword } from './requests.js'

/** Client id of tea, which every server has. */
export const TEA = 'd57cb8c4-630c-4168-8324-ec79935e18d4'
export const FORM = 'application/x-www-form-urlencoded'
/** Redirect URI of the tests' confidential application. */
export const CALLBACK = 'https://ci.example/authorize?from=gatehouse'
export const LOOPBACK = 'http://127.0.0.1:41234/'
export const VERIFIER = 'a-verifier-of-forty-three-characters-or-more'

/** Returns the S256 challenge of a verifier. */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url')
}

export type Fields = Readonly<Record<string, string>>

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly token_type: string
  readonly expires_in: number
  readonly scope: string
  readonly id_token?: string
}

/** Authorization request of tea. */
export const TEA_REQUEST: Fields = {
  client_id: TEA,
  redirect_uri: LOOPBACK,
  response_type: 'code',
  state: 'x y&z',
  code_challenge: challengeOf(VERIFIER),
  code_challenge_method: 'S256',
}

/** Starts a gateway with the users ada and bob, and a confidential application of bob. */
export async function startOauthServer(t: Test) {
  const gateway = await startGateway(t)
  const { db, ask } = gateway
  const [ada, bob] = [await gateway.addUser('ada'), await gateway.addUser('bob')]
  const { application, secret } = await makeApplication(db, bob.id, {
    name: 'Woodpecker <b>',
    redirectUris: [CALLBACK],
    isConfidential: true,
    skipsSecondConsent: false,
  })
  const { clientId } = application
  const send = (path: string, fields: Fields, headers: Fields = {}) =>
    ask({
      method: 'POST',
      path,
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': FORM, ...headers },
    })
  const askToken = (fields: Fields, headers: Fields = {}) =>
    send('/login/oauth/access_token', fields, headers)
  /** Authorization request of bob's application. */
  const asks: Fields = { client_id: clientId, redirect_uri: CALLBACK, response_type: 'code' }
  const codeOf = async (fields: Fields, user: User = ada) => {
    const query = new URLSearchParams(fields)
    return await grantCode(db, user.id, readInput(await findAuthorizingClient(db, query), query))
  }
  const redeem = (code: string, fields: Fields = {}) => ({
    grant_type: 'authorization_code',
    code,
    client_id: TEA,
    redirect_uri: LOOPBACK,
    code_verifier: VERIFIER,
    ...fields,
  })
  const refresh = (refreshToken: string) => ({
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: TEA,
  })
  return {
    ...gateway,
    ada,
    bob,
    application,
    secret,
    clientId,
    asks,
    send,
    askToken,
    codeOf,
    redeem,
    refresh,
    /** Authorization header with the application's id and secret. */
    basic: withPassword(clientId, secret),
    /** Returns tokens for tea. */
    tokensOf: async (fields: Fields = {}) => {
      const code = await codeOf({ ...TEA_REQUEST, ...fields })
      return (await askToken(redeem(code))).json as Tokens
    },
  }
}
