/** OpenPGP keys and signatures (RFC 9580) of apt repositories. */

import type { Config, PrivateKey } from 'openpgp'
import type { DebianKeyType } from '../../conf/package.js'
import type { SigningKey } from '../index-maker.js'

/** Loads the library on first use, because it takes 17 MiB and most processes never sign. */
const library = () => import('openpgp')

/** Options of the library by type of key. */
const ALGORITHMS = {
  rsa4096: { type: 'rsa', rsaBits: 4_096 },
  // Legacy form of Ed25519, because the gpgv of GnuPG 2 does not support that of RFC 9580.
  ed25519: { type: 'ecc', curve: 'ed25519Legacy' },
} as const

/** Configuration for deterministic signatures: equal text and time give equal signatures. */
const CONFIG: Partial<Config> = { nonDeterministicSignaturesViaNotation: false }

/**
 * Creates an armored key pair. It does not expire, because all clients would have to renew it. An
 * RSA key takes up to a second in the thread pool, not on the event loop.
 */
export async function makeOpenpgpKey(userName: string, type: DebianKeyType): Promise<SigningKey> {
  const { generateKey } = await library()
  const { privateKey, publicKey } = await generateKey({
    ...ALGORITHMS[type],
    userIDs: [{ name: userName }],
    subkeys: [],
    format: 'armored',
  })
  return { privateKey, publicKey }
}

/** Returns the keys in binary form. */
export async function dearmorKeys(armored: readonly string[]): Promise<Buffer> {
  const { readKey } = await library()
  const keys = await Promise.all(armored.map((armoredKey) => readKey({ armoredKey })))
  return Buffer.concat(keys.map((key) => key.write()))
}

/** Returns the keys in a single armor, because some programs read only the first one. */
export async function armorKeys(armored: readonly string[]): Promise<string> {
  const [only = '', ...more] = armored
  if (more.length === 0) return only
  const { armor, enums } = await library()
  const keys = await dearmorKeys(armored)
  // With a checksum, without which GnuPG fails for some lengths (its issue T7071).
  return armor(enums.armor.publicKey, keys, undefined, undefined, undefined, true)
}

export interface OpenpgpSigner {
  /** Returns the text, which must end with a line feed, with inline signatures (RFC 9580 §7). */
  clearSign(text: string): Promise<string>
  /** Returns detached signatures of a file with this text, in a single armor. */
  signDetached(text: string): Promise<string>
}

/** Creates a signer that signs with all keys, at `atMs` or the creation of the newest key. */
export async function openSigner(
  keys: ReadonlyArray<Pick<SigningKey, 'privateKey'>>,
  { atMs }: { readonly atMs: number },
): Promise<OpenpgpSigner> {
  const { createCleartextMessage, createMessage, readPrivateKey, sign } = await library()
  const signingKeys = await Promise.all(
    keys.map(({ privateKey }) => readPrivateKey({ armoredKey: privateKey })),
  )
  const date = laterOf(atMs, signingKeys)
  return {
    async clearSign(text) {
      // The last line feed is not part of the signed text (RFC 9580 §7).
      const message = await createCleartextMessage({ text: text.replace(/\n$/, '') })
      const signed = await sign({ message, signingKeys, date, config: CONFIG })
      // The library writes the signed form of the text, in which all line ends are CR LF.
      return signed.replaceAll('\r\n', '\n')
    },
    async signDetached(text) {
      const message = await createMessage({ binary: Buffer.from(text) })
      return await sign({ message, signingKeys, date, detached: true, config: CONFIG })
    },
  }
}

/** Returns the later time, because clients refuse signatures that are older than their key. */
function laterOf(atMs: number, keys: readonly PrivateKey[]): Date {
  return new Date(Math.max(atMs, ...keys.map((key) => key.getCreationTime().getTime())))
}
