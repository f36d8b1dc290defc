/** RSA keys and signatures for apk (RSASSA-PKCS1-v1_5, RFC 8017 §8.2). */

import { createHash, createPublicKey, createSign } from 'node:crypto'

export interface RsaKeys {
  /** PEM of PKCS #1. */
  readonly privateKey: string
  /** PEM of a SubjectPublicKeyInfo. */
  readonly publicKey: string
}

/** Key size of Alpine's own keys; a signature has the size of one block of a tar archive. */
const BITS = 4_096

/** Creates a key pair, which takes seconds in the thread pool, not on the event loop. */
export async function makeRsaKeys(): Promise<RsaKeys> {
  // Loaded on first use, because the library takes 10 MiB.
  const { pki } = (await import('node-forge')).default
  return await new Promise((resolve, reject) => {
    // With a callback, the library generates the keys with node:crypto.
    pki.rsa.generateKeyPair({ bits: BITS }, (error, pair) => {
      if (error) return reject(error)
      resolve({
        privateKey: inLines(pki.privateKeyToPem(pair.privateKey)),
        publicKey: inLines(pki.publicKeyToPem(pair.publicKey)),
      })
    })
  })
}

/** Replaces the CR LF line ends of the library. */
function inLines(pem: string): string {
  return pem.replaceAll('\r\n', '\n')
}

/** Returns the SHA-256 of the public key in DER, in hexadecimal. */
export function rsaFingerprint(publicKey: string): string {
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest('hex')
}

/** Signs the chunks with each key. The digest is SHA-1, because all apk versions support it. */
export async function signWithSha1<Key extends Pick<RsaKeys, 'privateKey'>>(
  chunks: AsyncIterable<Uint8Array>,
  keys: readonly Key[],
): Promise<ReadonlyArray<{ readonly key: Key; readonly signature: Buffer }>> {
  const signing = keys.map((key) => ({ key, sign: createSign('RSA-SHA1') }))
  for await (const chunk of chunks) for (const { sign } of signing) sign.update(chunk)
  return signing.map(({ key, sign }) => ({ key, signature: sign.sign(key.privateKey) }))
}
