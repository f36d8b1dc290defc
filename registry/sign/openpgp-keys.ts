/** OpenPGP keys of users, and their signatures (RFC 9580). The callers run it in a thread. */

import type { Key, PublicKey, SignaturePacket, Subkey } from 'openpgp'
import { Failure } from '../../conf/failures.js'
import type { OpenpgpKeyFacts, OpenpgpKeyPart } from '../../conf/openpgp-key.js'

/** Loads the library on first use, because it takes 17 MiB and most threads never need it. */
const library = () => import('openpgp')

/** Maximum number of characters of an armored key. */
export const OPENPGP_KEY_CHARACTERS_MAX = 65_536
/** Maximum number of subkeys, and of user ids, because each has signatures to verify. */
const PARTS_MAX = 32
const RSA_BYTES_MAX = 2_048
/** Larger exponents make a verification as slow as a signature. */
const RSA_EXPONENT_BYTES_MAX = 8

export interface OpenpgpKey extends OpenpgpKeyFacts {
  /** Fingerprint as upper-case hex. */
  readonly fingerprint: string
  /** The whole key in base64. */
  readonly content: string
}

/** Parses an armored public key. Throws `invalid` with the reason. */
export async function readOpenpgpKey(armored: string): Promise<OpenpgpKey> {
  const key = await parseKey(armored)
  refuseUnusable(key)
  const emails: string[] = []
  for (const user of key.users) {
    const email = user.userID?.email.toLowerCase()
    if (email && (await holds(user.verify()))) emails.push(email)
  }
  const expiresAt = await key.getExpirationTime().catch(() => null)
  return {
    ...(await partOf(key, expiresAt)),
    fingerprint: key.getFingerprint().toUpperCase(),
    content: Buffer.from(key.write() as Uint8Array).toString('base64'),
    emails: [...new Set(emails)],
    subkeys: await Promise.all(
      key.subkeys.map(async (subkey) =>
        partOf(subkey, await subkey.getExpirationTime().catch(() => null)),
      ),
    ),
  }
}

async function parseKey(armored: string): Promise<PublicKey> {
  if (armored.length > OPENPGP_KEY_CHARACTERS_MAX) {
    throw invalid(
      `it has more than ${OPENPGP_KEY_CHARACTERS_MAX} characters. Leave out the signatures of ` +
        'others: gpg --armor --export-options export-clean --export KEY.',
    )
  }
  if (armored.includes('PRIVATE KEY BLOCK')) {
    throw invalid('this is a private key. Keep it to yourself, and give: gpg --armor --export KEY.')
  }
  const { readKeys } = await library()
  const keys = await readKeys({ armoredKeys: armored }).catch((error: Error) => {
    throw invalid(`it is not an armored OpenPGP public key (${error.message}).`)
  })
  const [key, ...others] = keys
  // The library reads the first armor only.
  const isOne = others.length === 0 && armored.split('-----BEGIN PGP').length === 2
  if (key === undefined || !isOne) throw invalid('give exactly one key.')
  if (key.users.length > PARTS_MAX || key.subkeys.length > PARTS_MAX) {
    throw invalid(`it has more than ${PARTS_MAX} user ids or subkeys.`)
  }
  return key
}

function invalid(reason: string): Failure {
  return new Failure('invalid', `Invalid GPG key: ${reason}`)
}

/** Throws `invalid` for keys that could not verify a signature, or only slowly. */
function refuseUnusable(key: PublicKey): void {
  const { algorithm } = key.getAlgorithmInfo()
  if (!SIGNING.has(algorithm)) {
    throw invalid(`its algorithm ${algorithm} is not supported. Use Ed25519, ECDSA or RSA.`)
  }
  for (const { keyPacket } of [key, ...key.subkeys]) {
    const { n, e } = (keyPacket.publicParams ?? {}) as Readonly<Record<string, Uint8Array>>
    if ((n?.length ?? 0) > RSA_BYTES_MAX || (n && (e?.length ?? 0) > RSA_EXPONENT_BYTES_MAX)) {
      throw invalid(
        `an RSA key has at most ${8 * RSA_BYTES_MAX} bits, and an exponent of at most ` +
          `${8 * RSA_EXPONENT_BYTES_MAX} bits.`,
      )
    }
  }
}

/** Algorithms of the keys that verify signatures of commits. DSA is too weak. */
const SIGNING: ReadonlySet<string> = new Set([
  'rsaEncryptSign',
  'rsaSign',
  'ecdsa',
  'eddsaLegacy',
  'ed25519',
  'ed448',
])

const ENCRYPTING: ReadonlySet<string> = new Set([
  'rsaEncryptSign',
  'rsaEncrypt',
  'elgamal',
  'ecdh',
  'x25519',
  'x448',
])

async function partOf(
  key: Key | Subkey,
  expiresAt: Date | typeof Number.POSITIVE_INFINITY | null,
): Promise<OpenpgpKeyPart> {
  const { PacketList } = await library()
  const { algorithm } = key.getAlgorithmInfo()
  const packets = new PacketList()
  packets.push(key.keyPacket)
  return {
    keyId: key.getKeyID().toHex().toUpperCase(),
    packet: Buffer.from(packets.write() as Uint8Array).toString('base64'),
    createdAtMs: key.getCreationTime().getTime(),
    expiresAtMs: expiresAt instanceof Date ? expiresAt.getTime() : undefined,
    canSign: SIGNING.has(algorithm) || algorithm === 'dsa',
    canEncrypt: ENCRYPTING.has(algorithm),
  }
}

/** Returns false if a verification of the library rejects, which it does for each fault. */
async function holds(verification: Promise<unknown>): Promise<boolean> {
  return await verification.then(
    () => true,
    () => false,
  )
}

/** Returns the keys, given in base64, in a single armor. */
export async function armorOpenpgpKeys(contents: readonly string[]): Promise<string> {
  const { armor, enums } = await library()
  const bytes = Buffer.concat(contents.map((content) => Buffer.from(content, 'base64')))
  // With a checksum, without which GnuPG fails for some lengths (its issue T7071).
  return armor(enums.armor.publicKey, bytes, undefined, undefined, undefined, true)
}

/** A detached signature with the signed bytes. */
export interface OpenpgpSignature {
  readonly armored: string
  readonly payload: Uint8Array
}

/**
 * Result of a verification. `unknown`: none of the keys has the signature's key id. `bad`: a key
 * has it, but the signature is not valid. `malformed`: not one signature in a valid armor.
 */
export type OpenpgpVerdict =
  | {
      readonly kind: 'good'
      /** Position of the key in the list. */
      readonly key: number
      /** Id of the primary key or subkey that signed. */
      readonly keyId: string
    }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'bad' }
  | { readonly kind: 'malformed' }

/** Maximum number of characters of an armored signature. */
const SIGNATURE_CHARACTERS_MAX = 16_384

export interface VerifyOpenpgpInput {
  /** Keys in base64, as `readOpenpgpKey` returns them. */
  readonly keys: readonly string[]
  readonly signatures: readonly OpenpgpSignature[]
}

/**
 * Verifies signatures at the time of their creation: a key that expired or was superseded later
 * is valid, a compromised one is not.
 */
export async function verifyOpenpgp(input: VerifyOpenpgpInput): Promise<readonly OpenpgpVerdict[]> {
  const { readKey } = await library()
  const keys = await Promise.all(
    input.keys.map((content) => readKey({ binaryKey: Buffer.from(content, 'base64') })),
  )
  const verdicts: OpenpgpVerdict[] = []
  for (const signature of input.signatures) verdicts.push(await verifyOne(keys, signature))
  return verdicts
}

async function verifyOne(
  keys: readonly PublicKey[],
  { armored, payload }: OpenpgpSignature,
): Promise<OpenpgpVerdict> {
  const { createMessage, readSignature, verify } = await library()
  if (armored.length > SIGNATURE_CHARACTERS_MAX) return { kind: 'malformed' }
  const signature = await readSignature({ armoredSignature: armored }).catch(() => undefined)
  const [packet, ...others] = (signature?.packets ?? []) as readonly SignaturePacket[]
  if (signature === undefined || packet?.created == null || others.length > 0) {
    return { kind: 'malformed' }
  }
  const issuer = packet.issuerKeyID
  const at = keys.findIndex((key) => key.getKeys(issuer).length > 0)
  const key = keys[at]
  if (key === undefined) return { kind: 'unknown' }
  const { signatures } = await verify({
    message: await createMessage({ binary: payload }),
    signature,
    verificationKeys: key,
    date: packet.created,
    format: 'binary',
  })
  const [result, ...further] = signatures
  const isGood = result !== undefined && further.length === 0 && (await holds(result.verified))
  return isGood ? { kind: 'good', key: at, keyId: issuer.toHex().toUpperCase() } : { kind: 'bad' }
}
