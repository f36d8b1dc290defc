/** Signing key of ada's Alpine packages. */

import { makeSigningKey } from '../../registry/alpine/signing-key.js'

let key: ReturnType<typeof makeSigningKey> | undefined

/** Returns the key, which is made once per process because that takes about a second. */
export function alpineKey(): ReturnType<typeof makeSigningKey> {
  key ??= makeSigningKey('ada')
  return key
}
