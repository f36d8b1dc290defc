/** The keys that sign an owner's indexes: made when first needed, and once; replaced in overlap. */

import { Failure } from '../conf/failures.js'
import type { InstanceSecret } from '../conf/instance-secret.js'
import type { Database } from '../sql/database/database.js'
import type { PackageShelf } from '../sql/packages/packages.js'
import {
  addSigningKey,
  listSigningKeys,
  rotateSigningKey,
  type SealedKey,
} from '../sql/packages/signing-keys.js'
import type { SigningKey } from './index-maker.js'

type MakeKey = () => Promise<SigningKey>

export interface SigningKeys {
  /** Those of an owner for a format, newest first; `make` is called when there is none yet. */
  of(shelf: PackageShelf, make: MakeKey): Promise<readonly SigningKey[]>
  /**
   * Makes a new one, beside which those before sign until then and no longer. Throws `not_found`
   * where there is none yet, `conflict` when another rotation was faster or the secret is not the
   * one that the keys were sealed with.
   */
  rotate(
    shelf: PackageShelf,
    make: MakeKey,
    options: { readonly signsUntilMs: number },
  ): Promise<void>
}

/** Keys that the database keeps, sealed with the secret of the instance. */
export function createSigningKeys(db: Database, secret: InstanceSecret): SigningKeys {
  const making = new Map<string, Promise<readonly SigningKey[]>>()
  const wordsOf = ({ ownerId, format }: PackageShelf) => `signing-key ${ownerId} ${format}`
  const open = (shelf: PackageShelf, { privateSealed, publicText }: SealedKey) => ({
    privateKey: secret.unseal(privateSealed, wordsOf(shelf)),
    publicKey: publicText,
  })
  const makeSealed = async (shelf: PackageShelf, make: MakeKey): Promise<SealedKey> => {
    const { privateKey, publicKey } = await make()
    return { privateSealed: secret.seal(privateKey, wordsOf(shelf)), publicText: publicKey }
  }
  const makeFirst = async (shelf: PackageShelf, make: MakeKey) => {
    // Another process may have been faster: then its key is the one.
    await addSigningKey(db, shelf, await makeSealed(shelf, make))
    const kept = await listSigningKeys(db, shelf)
    if (kept.length === 0) throw new Error('a signing key just made cannot be found')
    return kept.map((key) => open(shelf, key))
  }
  return {
    async of(shelf, make) {
      const known = await listSigningKeys(db, shelf)
      if (known.length > 0) return known.map((key) => open(shelf, key))
      const words = wordsOf(shelf)
      const started = making.get(words) ?? makeFirst(shelf, make)
      making.set(words, started)
      try {
        return await started
      } finally {
        making.delete(words)
      }
    },
    async rotate(shelf, make, { signsUntilMs }) {
      const [from] = await listSigningKeys(db, shelf)
      if (from === undefined) throw new Failure('not_found', NO_KEY)
      try {
        open(shelf, from)
      } catch (cause) {
        // The gateway could not open what would be sealed here.
        throw new Failure('conflict', OTHER_SECRET, { cause })
      }
      const to = await makeSealed(shelf, make)
      const isRotated = await rotateSigningKey(db, shelf, { from, to, signsUntilMs })
      if (!isRotated) throw new Failure('conflict', 'Another rotation was faster.')
    },
  }
}

const NO_KEY = 'There is no key yet: it is made when clients or an index need it first.'
const OTHER_SECRET =
  'The key was sealed with another secret.key: use the data folder and the account of the gateway.'
