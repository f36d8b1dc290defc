/** Signing key of ada's Alpine packages, made once per process because that takes about a second. */

import { makeSigningKey } from '../../registry/alpine/signing-key.js'

let key: ReturnType<typeof makeSigningKey> | undefined

/** Returns the key. */
export function alpineKey(): ReturnType<typeof makeSigningKey> {
  key ??= makeSigningKey('ada')
  return key
}
