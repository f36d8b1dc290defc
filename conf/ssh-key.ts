/** Parser of public SSH keys as users paste them: one line, validated to the last byte. */

import { createHash } from 'node:crypto'
import { Failure } from './failures.js'
import { checkSshKey, isSshKeyAlgorithm, type SshKeyAlgorithm } from './ssh-key-blob.js'

/** Maximum size of a public SSH key with its comment. RSA with 16,384 bits needs 2,800 bytes. */
const SSH_KEY_BYTES_MAX = 16_384

export interface SshKey {
  readonly algorithm: SshKeyAlgorithm
  /** The key (RFC 4253 §6.6) in canonical base64, so that equal keys have equal texts. */
  readonly base64: string
  /** Text after the key on its line; may be empty. */
  readonly comment: string
  /** `SHA256:` and the digest of the key, as ssh-keygen and sshd (`%f`) write it. */
  readonly fingerprint: string
}

/**
 * Parses a line of the form `ALGORITHM BASE64 COMMENT`, as in a file that ends in `.pub`. Throws
 * `invalid` with the reason and advice for any other text.
 */
export function parseSshKey(text: string): SshKey {
  const words = lineOf(text).split(' ')
  const [algorithm = '', base64 = '', ...rest] = words.filter((word) => word !== '')
  if (!isSshKeyAlgorithm(algorithm)) throw invalid(whyNoAlgorithm(algorithm, words))
  if (rest.some((word, at) => isSshKeyAlgorithm(word) && rest[at + 1]?.startsWith('AAAA'))) {
    throw invalid(SEVERAL)
  }
  const blob = Buffer.from(base64, 'base64')
  // Decoding skips characters that are not base64, so the text is encoded again and compared.
  if (base64 === '' || blob.toString('base64') !== base64) {
    throw invalid('its key is cut off or not canonical base64. Copy the line again.')
  }
  const fault = checkSshKey(algorithm, blob)
  if (fault !== undefined) throw invalid(fault)
  const digest = createHash('sha256').update(blob).digest('base64').replace('=', '')
  return { algorithm, base64, comment: rest.join(' '), fingerprint: `SHA256:${digest}` }
}

/** Formats a key as one line, which contains only validated parts. */
export function formatSshKey({ algorithm, base64, comment }: SshKey): string {
  return comment === '' ? `${algorithm} ${base64}` : `${algorithm} ${base64} ${comment}`
}

const SEVERAL = 'there are several lines or keys in it. Give one key, on one line.'

function invalid(reason: string): Failure {
  return new Failure('invalid', `Invalid key content: ${reason}`)
}

/** Returns the only line of the text, without the newline at its end. */
function lineOf(text: string): string {
  if (text.length > SSH_KEY_BYTES_MAX || Buffer.byteLength(text) > SSH_KEY_BYTES_MAX) {
    throw invalid(`it has more than ${SSH_KEY_BYTES_MAX} bytes. Give one public key.`)
  }
  for (const [mark, reason] of OTHER_FORMS) if (text.includes(mark)) throw invalid(reason)
  const line = text.replace(/\r?\n$/, '')
  if (line.includes('\n')) throw invalid(SEVERAL)
  // Control characters could hide or fake text when keys are listed on a terminal or by line.
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(line)) {
    throw invalid('there are control characters in it. Copy the line again.')
  }
  return line
}

const OTHER_FORMS: ReadonlyArray<readonly [mark: string, reason: string]> = [
  [
    'PRIVATE KEY-----',
    'this is a private key. Keep it to yourself, and give the file that ends in .pub.',
  ],
  [
    'PuTTY-User-Key-File',
    'this is a private key. Keep it to yourself, and give the public one that PuTTYgen shows.',
  ],
  [
    'BEGIN SSH2 PUBLIC KEY',
    'this is the format of RFC 4716. Convert it with: ssh-keygen -i -f FILE.',
  ],
  [
    '-----BEGIN',
    'this is a PEM file. Convert it with: ssh-keygen -i -m PKCS8 -f FILE (or -m PEM).',
  ],
]

function whyNoAlgorithm(first: string, words: readonly string[]): string {
  if (first === '') return 'it is empty. Give the one line of a file that ends in .pub.'
  if (first.endsWith('-cert-v01@openssh.com')) {
    return 'this is a certificate. Give the public key that it was made for.'
  }
  if (words.some(isSshKeyAlgorithm)) {
    return 'there is text before the key type. Give the key alone, without options.'
  }
  if (first === 'ssh-dss') return 'DSA keys are too weak. Make one with: ssh-keygen -t ed25519.'
  return (
    'its first word is not a supported key type: ssh-ed25519, ecdsa-sha2-nistp256, ' +
    '-nistp384 or -nistp521, ssh-rsa, or an sk- key of FIDO2. Make one with: ' +
    'ssh-keygen -t ed25519.'
  )
}
