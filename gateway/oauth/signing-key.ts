/** Signing key of ID tokens: created on first use, and stored sealed. */

import { createHash, createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { openInstanceSecret } from '../../conf/instance-secret.js'
import { SEAL_CONTEXTS } from '../../conf/seal-contexts.js'
import { findOauthKey, keepOauthKey } from '../../sql/accounts/oauth-keys.js'
import type { SealedKey } from '../../sql/packages/signing-keys.js'
import type { Context } from '../request/context.js'

const WORDS = SEAL_CONTEXTS.idTokenKey()
const RSA_BITS = 2_048

/** Returns the public key as a JSON Web Key (RFC 7517). */
export async function publicJwk(context: Context): Promise<Readonly<Record<string, string>>> {
  return JSON.parse((await theKey(context)).publicText)
}

/** Returns the private key, and the id of the public key. */
export async function privateKey(
  context: Context,
): Promise<{ readonly key: KeyObject; readonly keyId: string }> {
  const { privateSealed, publicText } = await theKey(context)
  const secret = await openInstanceSecret(context.settings.data.dir)
  return {
    key: createPrivateKey(secret.unseal(privateSealed, WORDS)),
    keyId: JSON.parse(publicText).kid,
  }
}

async function theKey(context: Context): Promise<SealedKey> {
  return (await findOauthKey(context.db)) ?? (await makeKey(context))
}

async function makeKey({ db, settings }: Context): Promise<SealedKey> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: RSA_BITS })
  const { kty, n, e } = pair.publicKey.export({ format: 'jwk' })
  // RFC 7638 §3.2 requires exactly these members, in this order.
  const thumbprint = createHash('sha256').update(JSON.stringify({ e, kty, n }))
  const jwk = { kty, n, e, alg: 'RS256', use: 'sig', kid: thumbprint.digest('base64url') }
  const pem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  const secret = await openInstanceSecret(settings.data.dir)
  return await keepOauthKey(db, {
    privateSealed: secret.seal(pem, WORDS),
    publicText: JSON.stringify(jwk),
  })
}
