/** Validation of the binary form of public SSH keys, which must be in canonical encoding. */

import { createPublicKey } from 'node:crypto'

const EMPTY: Buffer = Buffer.alloc(0)
const EDDSA_BYTES = 32
const RSA_BITS_MIN = 2_048
const RSA_BITS_RECOMMENDED = 3_072
/** Maximum size of a number in OpenSSH (SSHBUF_MAX_BIGNUM). */
const RSA_BITS_MAX = 16_384
const APPLICATION_BYTES_MAX = 255

/** Checks the fields after the algorithm. Returns an error message, or undefined if valid. */
type Check = (fields: readonly Buffer[]) => string | undefined

/** Checks by algorithm: RFC 8709 (ed25519), RFC 5656 (ecdsa), RFC 4253 §6.6, PROTOCOL.u2f (sk-). */
const CHECKS = {
  'ssh-ed25519': (fields) => checkCount(fields, 1) ?? checkEddsa(fields[0]),
  'ecdsa-sha2-nistp256': (fields) => checkCount(fields, 2) ?? checkEcdsa(fields, 'P-256'),
  'ecdsa-sha2-nistp384': (fields) => checkCount(fields, 2) ?? checkEcdsa(fields, 'P-384'),
  'ecdsa-sha2-nistp521': (fields) => checkCount(fields, 2) ?? checkEcdsa(fields, 'P-521'),
  'ssh-rsa': (fields) => checkCount(fields, 2) ?? checkRsa(fields),
  'sk-ssh-ed25519@openssh.com': (fields) =>
    checkCount(fields, 2) ?? checkEddsa(fields[0]) ?? checkApplication(fields[1]),
  'sk-ecdsa-sha2-nistp256@openssh.com': (fields) =>
    checkCount(fields, 3) ?? checkEcdsa(fields, 'P-256') ?? checkApplication(fields[2]),
} as const satisfies Record<string, Check>

export type SshKeyAlgorithm = keyof typeof CHECKS

/** Returns true if keys of that algorithm are accepted. */
export function isSshKeyAlgorithm(name: string): name is SshKeyAlgorithm {
  return Object.hasOwn(CHECKS, name)
}

/** Checks a key of that algorithm. Returns an error message, or undefined if it is valid. */
export function checkSshKey(algorithm: SshKeyAlgorithm, blob: Buffer): string | undefined {
  const [name, ...fields] = fieldsOf(blob) ?? []
  if (name === undefined) return 'it ends too early or is too long. Copy the line again.'
  if (!name.equals(Buffer.from(algorithm))) {
    return `its first word is ${algorithm}, but the key has another type. Copy the line again.`
  }
  return CHECKS[algorithm](fields)
}

const FIELDS_MAX = 5

/** Splits a key into fields: each has four bytes of length and then its bytes (RFC 4251 §5). */
export function fieldsOf(blob: Buffer): readonly Buffer[] | undefined {
  const fields: Buffer[] = []
  let at = 0
  while (at < blob.length) {
    if (fields.length === FIELDS_MAX || blob.length - at < 4) return undefined
    const start = at + 4
    at = start + blob.readUInt32BE(at)
    if (at > blob.length) return undefined
    fields.push(blob.subarray(start, at))
  }
  return fields
}

function checkCount(fields: readonly Buffer[], count: number): string | undefined {
  return fields.length === count ? undefined : 'it has too many or too few parts.'
}

function checkEddsa(point = EMPTY): string | undefined {
  return point.length === EDDSA_BYTES ? undefined : `its key does not have ${EDDSA_BYTES} bytes.`
}

type Curve = 'P-256' | 'P-384' | 'P-521'

/** Checks the name of the curve and an uncompressed point on it (SEC 1 §2.3.3). */
function checkEcdsa(fields: readonly Buffer[], curve: Curve): string | undefined {
  const [name = EMPTY, point = EMPTY] = fields
  if (!name.equals(Buffer.from(`nist${curve.toLowerCase().replace('-', '')}`))) {
    return 'its curve does not match its type.'
  }
  const bytes = Math.ceil(Number(curve.slice('P-'.length)) / 8)
  const isPoint = point.length === 1 + 2 * bytes && point[0] === 4
  const x = point.subarray(1, 1 + bytes)
  const y = point.subarray(1 + bytes)
  return isPoint && isOnCurve({ curve, x, y }) ? undefined : 'its point is not on its curve.'
}

interface Point {
  readonly curve: Curve
  readonly x: Buffer
  readonly y: Buffer
}

function isOnCurve({ curve: crv, x, y }: Point): boolean {
  try {
    const key = { kty: 'EC', crv, x: x.toString('base64url'), y: y.toString('base64url') }
    createPublicKey({ key, format: 'jwk' })
    return true
  } catch {
    return false
  }
}

function checkRsa([exponent, modulus]: readonly Buffer[]): string | undefined {
  const exponentBits = bitsOf(exponent)
  const bits = bitsOf(modulus)
  if (exponentBits === undefined || bits === undefined) {
    return 'its numbers are not positive or not in their shortest form.'
  }
  if (bits < RSA_BITS_MIN || bits > RSA_BITS_MAX) {
    return (
      `an RSA key must have ${RSA_BITS_MIN} to ${RSA_BITS_MAX} bits, preferably at least ` +
      `${RSA_BITS_RECOMMENDED}; this one has ${bits}.`
    )
  }
  // With an exponent of 1 anyone could sign. Even numbers are never parts of a key.
  const isKey = exponentBits > 1 && exponentBits < bits && isOdd(exponent) && isOdd(modulus)
  return isKey ? undefined : 'its numbers are not those of an RSA key.'
}

/** Returns the bits of a number (RFC 4251 §5, mpint); undefined if not positive and shortest. */
function bitsOf(number = EMPTY): number | undefined {
  const [first = 0, second = 0] = number
  const isShortest = number.length > 0 && (first > 0 || second > 127)
  if (!isShortest || first > 127) return undefined
  return (number.length - 1) * 8 + (first === 0 ? 0 : 32 - Math.clz32(first))
}

function isOdd(number = EMPTY): boolean {
  return ((number.at(-1) ?? 0) & 1) === 1
}

/** Checks the application of an sk- key, such as `ssh:` or a host name (PROTOCOL.u2f). */
function checkApplication(application = EMPTY): string | undefined {
  const isText = application.every((byte) => byte > 32 && byte < 127)
  const isRight = isText && application.length > 0 && application.length <= APPLICATION_BYTES_MAX
  return isRight ? undefined : 'its application is empty or not printable ASCII.'
}
