/** OpenPGP signatures (RFC 9580), as apt wants them of a repository. */

import type { Config, PrivateKey } from 'openpgp'
import type { SigningKey } from '../index-maker.js'

/** Loaded when something is signed: it takes 17 MiB, for which most processes have no other use. */
const library = () => import('openpgp')

/** The old form of Ed25519: the gpgv of GnuPG 2 does not know the one that came later. */
const ALGORITHM = { type: 'ecc', curve: 'ed25519Legacy' } as const

/** Without a random part, so that the same text at the same time has the same signature. */
const CONFIG: Partial<Config> = { nonDeterministicSignaturesViaNotation: false }

/** A new pair of keys, both armored, that does not expire: every client would have to renew it. */
export async function makeOpenpgpKey(userName: string): Promise<SigningKey> {
  const { generateKey } = await library()
  const { privateKey, publicKey } = await generateKey({
    ...ALGORITHM,
    userIDs: [{ name: userName }],
    subkeys: [],
    format: 'armored',
  })
  return { privateKey, publicKey }
}

/** The keys as programs without armor read them. */
export async function dearmorKeys(armored: readonly string[]): Promise<Buffer> {
  const { readKey } = await library()
  const keys = await Promise.all(armored.map((armoredKey) => readKey({ armoredKey })))
  return Buffer.concat(keys.map((key) => key.write()))
}

/** The keys in one armor: not every program reads on behind the first. */
export async function armorKeys(armored: readonly string[]): Promise<string> {
  const [only = '', ...more] = armored
  if (more.length === 0) return only
  const { armor, enums } = await library()
  const keys = await dearmorKeys(armored)
  // With its checksum, without which GnuPG does not read some lengths (its defect T7071).
  return armor(enums.armor.publicKey, keys, undefined, undefined, undefined, true)
}

export interface OpenpgpSigner {
  /** The text, which ends with a line feed, with its signatures around it. */
  clearSign(text: string): Promise<string>
  /** Armored signatures, in one armor, for a file that is the text. */
  signDetached(text: string): Promise<string>
}

/** Signs with each of the keys, at that time or when the last was made, whichever is later. */
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
      // The last line feed belongs to the frame, not to what is signed (RFC 9580 §7).
      const message = await createCleartextMessage({ text: text.replace(/\n$/, '') })
      const signed = await sign({ message, signingKeys, date, config: CONFIG })
      // The library writes the text as it is signed, whose line ends are none of the text's own.
      return signed.replaceAll('\r\n', '\n')
    },
    async signDetached(text) {
      const message = await createMessage({ binary: Buffer.from(text) })
      return await sign({ message, signingKeys, date, detached: true, config: CONFIG })
    },
  }
}

/** Nobody accepts what was signed before its key was made. */
function laterOf(atMs: number, keys: readonly PrivateKey[]): Date {
  return new Date(Math.max(atMs, ...keys.map((key) => key.getCreationTime().getTime())))
}
