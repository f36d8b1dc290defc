/** Signatures by SSH keys in the form of `ssh-keygen -Y sign` (PROTOCOL.sshsig of OpenSSH). */

import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { promisify } from 'node:util'
import { checkSshKey, fieldsOf, isSshKeyAlgorithm, type SshKeyAlgorithm } from './ssh-key-blob.js'

/** A parsed signature, with the key that claims to have made it. */
export interface SshSignature {
  readonly algorithm: SshKeyAlgorithm
  readonly key: Buffer
  /** `SHA256:` and the digest of the key, as in `SshKey`. */
  readonly fingerprint: string
  readonly hash: 'sha256' | 'sha512'
  readonly signature: Buffer
}

export const SSH_ARMOR = '-----BEGIN SSH SIGNATURE-----'

const ARMOR = /^-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\s*$/
/** An RSA key with 16,384 bits and its signature need 6,000 characters. */
const CHARACTERS_MAX = 16_384
const MAGIC = Buffer.from('SSHSIG')
const VERSION = 1
/** Namespace of signatures by git. */
const NAMESPACE = Buffer.from('git')

/** Parses a signature of the namespace `git`. Returns undefined if it is malformed. */
export function parseSshSignature(armored: string): SshSignature | undefined {
  if (armored.length > CHARACTERS_MAX) return undefined
  const bytes = Buffer.from(ARMOR.exec(armored.replaceAll('\r', ''))?.[1] ?? '', 'base64')
  const start = MAGIC.length + 4
  if (bytes.length < start || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  if (bytes.readUInt32BE(MAGIC.length) !== VERSION) return undefined
  const [key, namespace, reserved, hash, signature, ...rest] = fieldsOf(bytes.subarray(start)) ?? []
  if (key === undefined || signature === undefined || rest.length > 0) return undefined
  if (!namespace?.equals(NAMESPACE) || reserved?.length !== 0) return undefined
  const hashName = hash?.toString()
  const algorithm = algorithmOf(key)
  if (hashName !== 'sha256' && hashName !== 'sha512') return undefined
  if (algorithm === undefined || checkSshKey(algorithm, key) !== undefined) return undefined
  const digest = createHash('sha256').update(key).digest('base64').replace('=', '')
  return { algorithm, key, fingerprint: `SHA256:${digest}`, hash: hashName, signature }
}

function algorithmOf(key: Buffer): SshKeyAlgorithm | undefined {
  const name = fieldsOf(key)?.[0]?.toString() ?? ''
  return isSshKeyAlgorithm(name) ? name : undefined
}

/** Returns true if the signature's key has signed the payload. Runs in a thread of libuv. */
export async function verifySshSignature(
  { algorithm, key, hash, signature }: SshSignature,
  payload: Uint8Array,
): Promise<boolean> {
  const digest = createHash(hash).update(payload).digest()
  const fields = [NAMESPACE, Buffer.alloc(0), Buffer.from(hash), digest].map(stringOf)
  const text = Buffer.concat([MAGIC, ...fields])
  const [, ...keyFields] = fieldsOf(key) ?? []
  const work = CHECKS[algorithm](keyFields, signature, text)
  return work !== undefined && (await verifyAsync(work.hash, work.text, work.key, work.signature))
}

const verifyAsync = promisify(
  (
    hash: string | null,
    text: Buffer,
    key: Parameters<typeof verify>[2],
    signature: Buffer,
    done: (error: Error | null, isRight: boolean) => void,
  ) => verify(hash, text, key as never, signature, done),
)

interface Check {
  readonly hash: string | null
  readonly text: Buffer
  readonly key: Parameters<typeof verify>[2]
  readonly signature: Buffer
}

type MakeCheck = (fields: readonly Buffer[], signature: Buffer, text: Buffer) => Check | undefined

const CHECKS: Readonly<Record<SshKeyAlgorithm, MakeCheck>> = {
  'ssh-ed25519': ([point], signature, text) => ed25519('ssh-ed25519', { point, signature, text }),
  'ecdsa-sha2-nistp256': ecdsa('ecdsa-sha2-nistp256', 'P-256', 'sha256'),
  'ecdsa-sha2-nistp384': ecdsa('ecdsa-sha2-nistp384', 'P-384', 'sha384'),
  'ecdsa-sha2-nistp521': ecdsa('ecdsa-sha2-nistp521', 'P-521', 'sha512'),
  'ssh-rsa': rsa,
  'sk-ssh-ed25519@openssh.com': ([point, application], signature, text) => {
    const name = 'sk-ssh-ed25519@openssh.com'
    return ed25519(name, { point, ...ofSecurityKey(signature, application, text) })
  },
  'sk-ecdsa-sha2-nistp256@openssh.com': (fields, signature, text) => {
    const token = ofSecurityKey(signature, fields[2], text)
    const name = 'sk-ecdsa-sha2-nistp256@openssh.com'
    return token && ecdsa(name, 'P-256', 'sha256')(fields, token.signature, token.text)
  },
}

interface Ed25519 {
  readonly point?: Buffer | undefined
  readonly signature?: Buffer
  readonly text?: Buffer
}

function ed25519(name: string, { point, signature, text }: Ed25519): Check | undefined {
  const bytes = signature && bytesOf(signature, name)
  if (bytes === undefined || point === undefined || text === undefined) return undefined
  const key = keyOf({ kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') })
  return { hash: null, text, key, signature: bytes }
}

function ecdsa(name: string, curve: string, hash: string): MakeCheck {
  return ([, point], signature, text) => {
    const numbers = fieldsOf(bytesOf(signature, name) ?? Buffer.alloc(0))
    if (point === undefined || numbers?.length !== 2) return undefined
    const size = (point.length - 1) / 2
    const pair = numbers.map((number) => paddedTo(size, number))
    if (pair.includes(undefined)) return undefined
    const key = keyOf({
      kty: 'EC',
      crv: curve,
      x: point.subarray(1, 1 + size).toString('base64url'),
      y: point.subarray(1 + size).toString('base64url'),
    })
    const dsaEncoding = 'ieee-p1363' as const
    return { hash, text, key: { key, dsaEncoding }, signature: Buffer.concat(pair as Buffer[]) }
  }
}

/** Returns a number (RFC 4251 §5, mpint) in that many bytes; undefined if it is longer. */
function paddedTo(size: number, number: Buffer): Buffer | undefined {
  const digits = number[0] === 0 ? number.subarray(1) : number
  return digits.length > size
    ? undefined
    : Buffer.concat([Buffer.alloc(size - digits.length), digits])
}

/** Hashes of RSA signatures (RFC 8332 §3); `ssh-rsa` with SHA-1 is refused. */
const RSA_HASHES = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' } as const

function rsa([e, n]: readonly Buffer[], signature: Buffer, text: Buffer): Check | undefined {
  for (const [name, hash] of Object.entries(RSA_HASHES)) {
    const bytes = bytesOf(signature, name)
    if (bytes === undefined || e === undefined || n === undefined) continue
    const key = keyOf({ kty: 'RSA', e: e.toString('base64url'), n: n.toString('base64url') })
    return { hash, text, key, signature: bytes }
  }
  return undefined
}

function keyOf(key: Readonly<Record<string, string>>): KeyObject {
  return createPublicKey({ key, format: 'jwk' })
}

/** Returns the bytes of a signature (RFC 4253 §6.6) if it has that algorithm. */
function bytesOf(signature: Buffer, name: string): Buffer | undefined {
  const [algorithm, bytes, ...rest] = fieldsOf(signature) ?? []
  return algorithm?.equals(Buffer.from(name)) && rest.length === 0 ? bytes : undefined
}

const USER_PRESENT = 1
const FLAGS_AND_COUNTER_BYTES = 5

/**
 * Returns the signature without flags and counter, and the text that a security key signs
 * (PROTOCOL.u2f); undefined if the user was not present.
 */
function ofSecurityKey(
  signature: Buffer,
  application: Buffer | undefined,
  text: Buffer,
): { readonly signature: Buffer; readonly text: Buffer } | undefined {
  const at = signature.length - FLAGS_AND_COUNTER_BYTES
  if (at < 0 || application === undefined) return undefined
  const end = signature.subarray(at)
  if (((end[0] ?? 0) & USER_PRESENT) === 0) return undefined
  const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest()
  return {
    signature: signature.subarray(0, at),
    text: Buffer.concat([sha256(application), end, sha256(text)]),
  }
}

function stringOf(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
