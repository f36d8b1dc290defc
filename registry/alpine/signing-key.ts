/** An owner's key pair, its file name for apk, and the signatures of an index. */

import { gzipSync } from 'node:zlib'
import { tarHeader, tarPadding } from '../archive/tar-header.js'
import type { SigningKey } from '../index-maker.js'
import { makeRsaKeys, rsaFingerprint, signWithSha1 } from '../sign/rsa.js'

const FINGERPRINT_CHARACTERS = 16

/**
 * Creates a key pair. The file name of the public key is stored before the private key, where PEM
 * allows explanatory text (RFC 7468 §2), because clients keep the key under this name even if the
 * owner is renamed.
 */
export async function makeSigningKey(ownerName: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await makeRsaKeys()
  const fingerprint = rsaFingerprint(publicKey).slice(0, FINGERPRINT_CHARACTERS)
  const name = `${ownerName.toLowerCase()}-${fingerprint}.rsa.pub`
  return { privateKey: `${name}\n${privateKey}`, publicKey }
}

/** Returns the name of the public key's file in `/etc/apk/keys` (apk-keys(5)). */
export function keyFileName({ privateKey }: Pick<SigningKey, 'privateKey'>): string {
  return privateKey.slice(0, privateKey.indexOf('\n'))
}

/**
 * Returns a gzip member with a signature of the chunks by each key; the chunks must follow it. apk
 * verifies the first signature whose key it has and ignores the others.
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
  // End-of-archive blocks are left out, because the next member continues the same tar archive.
  return gzipSync(Buffer.concat(segments))
}
