/** OpenPGP signatures (RFC 9580), as apt wants them of a repository. */

import type { Config, PrivateKey } from 'openpgp'
import type { SigningKey } from '../format.js'

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

/** The key as programs without armor read it. */
export async function dearmorKey(armored: string): Promise<Uint8Array> {
  const { readKey } = await library()
  return (await readKey({ armoredKey: armored })).write()
}

export interface OpenpgpSigner {
  /** The text, which ends with a line feed, with its signature around it. */
  clearSign(text: string): Promise<string>
  /** An armored signature for a file that is the text. */
  signDetached(text: string): Promise<string>
}

/** Signs with that key, at that time or when the key was made, whichever is later. */
export async function openSigner(
  privateKey: string,
  { atMs }: { readonly atMs: number },
): Promise<OpenpgpSigner> {
  const { createCleartextMessage, createMessage, readPrivateKey, sign } = await library()
  const signingKeys = await readPrivateKey({ armoredKey: privateKey })
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
function laterOf(atMs: number, key: PrivateKey): Date {
  return new Date(Math.max(atMs, key.getCreationTime().getTime()))
}
