/** The pair of keys of an owner, and the name by which apk knows it. */

import type { SigningKey } from '../format.js'
import { makeRsaKeys, rsaFingerprint } from '../sign/rsa.js'

const FINGERPRINT_CHARACTERS = 16

/**
 * A new pair. What it is called stands before the private one, where PEM has room for words
 * (RFC 7468 §2): clients keep the public key under that name, whatever its owner is called later.
 */
export async function makeSigningKey(ownerName: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await makeRsaKeys()
  const fingerprint = rsaFingerprint(publicKey).slice(0, FINGERPRINT_CHARACTERS)
  const name = `${ownerName.toLowerCase()}-${fingerprint}.rsa.pub`
  return { privateKey: `${name}\n${privateKey}`, publicKey }
}

/** The file in `/etc/apk/keys` that apk looks for. */
export function keyFileName({ privateKey }: Pick<SigningKey, 'privateKey'>): string {
  return privateKey.slice(0, privateKey.indexOf('\n'))
}
