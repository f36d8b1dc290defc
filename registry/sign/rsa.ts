/** Pairs of RSA keys, and signatures as apk checks them (RSASSA-PKCS1-v1_5, RFC 8017 §8.2). */

import { createHash, createPublicKey, createSign } from 'node:crypto'

export interface RsaKeys {
  /** PEM of PKCS #1. */
  readonly privateKey: string
  /** PEM of a SubjectPublicKeyInfo. */
  readonly publicKey: string
}

/** As Alpine's own keys have. A signature then is exactly one block of a tar archive. */
const BITS = 4_096

/** A new pair. That takes seconds, on the threads of node:crypto: the event loop stays free. */
export async function makeRsaKeys(): Promise<RsaKeys> {
  // It takes 10 MiB, for which a worker has no other use.
  const { pki } = (await import('node-forge')).default
  return await new Promise((resolve, reject) => {
    // With a callback the library has node:crypto look for the primes.
    pki.rsa.generateKeyPair({ bits: BITS }, (error, pair) => {
      if (error) return reject(error)
      resolve({
        privateKey: inLines(pki.privateKeyToPem(pair.privateKey)),
        publicKey: inLines(pki.publicKeyToPem(pair.publicKey)),
      })
    })
  })
}

/** The library writes the line ends of mail. */
function inLines(pem: string): string {
  return pem.replaceAll('\r\n', '\n')
}

/** SHA-256 of the public key in its one encoding (DER), in hexadecimal. */
export function rsaFingerprint(publicKey: string): string {
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest('hex')
}

/** Signs what the chunks are together, by its SHA-1: the only digest that every apk knows. */
export async function signWithSha1<Key extends Pick<RsaKeys, 'privateKey'>>(
  chunks: AsyncIterable<Uint8Array>,
  keys: readonly Key[],
): Promise<ReadonlyArray<{ readonly key: Key; readonly signature: Buffer }>> {
  const signing = keys.map((key) => ({ key, sign: createSign('RSA-SHA1') }))
  for await (const chunk of chunks) for (const { sign } of signing) sign.update(chunk)
  return signing.map(({ key, sign }) => ({ key, signature: sign.sign(key.privateKey) }))
}
