/** The pair of keys of an owner, the name by which apk knows it, and what it is to sign with. */

import { gzipSync } from 'node:zlib'
import { tarHeader, tarPadding } from '../archive/tar-header.js'
import type { SigningKey } from '../index-maker.js'
import { makeRsaKeys, rsaFingerprint, signWithSha1 } from '../sign/rsa.js'

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

/**
 * The gzip member that stands before the chunks, with a signature of them by each key. Of these apk
 * takes the first whose key it has, and passes over the others.
 */
export async function signatureMember(
  keys: readonly SigningKey[],
  chunks: AsyncIterable<Uint8Array>,
): Promise<Buffer> {
  const signatures = await signWithSha1(chunks, keys)
  const segments = signatures.flatMap(({ key, signature }) => {
    const header = tarHeader(`.SIGN.RSA.${keyFileName(key)}`, signature.length)
    return [header, signature, tarPadding(signature.length)]
  })
  // Without the mark of its end: the next member goes on with the same archive.
  return gzipSync(Buffer.concat(segments))
}
