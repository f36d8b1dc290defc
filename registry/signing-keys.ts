/** The keys that sign an owner's indexes: made when they are first needed, and once. */

import type { InstanceSecret } from '../conf/instance-secret.js'
import type { Database } from '../sql/database.js'
import type { PackageShelf } from '../sql/packages.js'
import { addSigningKey, findSigningKey, type SealedKey } from '../sql/signing-keys.js'
import type { SigningKey } from './format.js'

export interface SigningKeys {
  /** The key of an owner for a format; `make` is called when there is none yet. */
  of(shelf: PackageShelf, make: () => Promise<SigningKey>): Promise<SigningKey>
}

/** Keys that the database keeps, sealed with the secret of the instance. */
export function createSigningKeys(db: Database, secret: InstanceSecret): SigningKeys {
  const making = new Map<string, Promise<SigningKey>>()
  const wordsOf = ({ ownerId, format }: PackageShelf) => `signing-key ${ownerId} ${format}`
  const open = (shelf: PackageShelf, { privateSealed, publicText }: SealedKey) => ({
    privateKey: secret.unseal(privateSealed, wordsOf(shelf)),
    publicKey: publicText,
  })
  const makeOne = async (shelf: PackageShelf, make: () => Promise<SigningKey>) => {
    const { privateKey, publicKey } = await make()
    const privateSealed = secret.seal(privateKey, wordsOf(shelf))
    // Another process may have been faster: then its key is the one.
    await addSigningKey(db, shelf, { privateSealed, publicText: publicKey })
    const kept = await findSigningKey(db, shelf)
    if (kept === undefined) throw new Error('a signing key just made cannot be found')
    return open(shelf, kept)
  }
  return {
    async of(shelf, make) {
      const known = await findSigningKey(db, shelf)
      if (known !== undefined) return open(shelf, known)
      const words = wordsOf(shelf)
      const started = making.get(words) ?? makeOne(shelf, make)
      making.set(words, started)
      try {
        return await started
      } finally {
        making.delete(words)
      }
    },
  }
}
