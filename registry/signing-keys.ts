/** The keys that sign an owner's indexes: made when first needed, and once; replaced in overlap. */

import { Failure } from '../conf/failures.js'
import type { InstanceSecret } from '../conf/instance-secret.js'
import type { Database } from '../sql/database/database.js'
import type { PackageNamespace } from '../sql/packages/packages.js'
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
  of(namespace: PackageNamespace, make: MakeKey): Promise<readonly SigningKey[]>
  /**
   * Makes a new one, beside which those before sign until then and no longer. Throws `not_found`
   * where there is none yet, `conflict` when another rotation was faster or the secret is not the
   * one that the keys were sealed with.
   */
  rotate(
    namespace: PackageNamespace,
    make: MakeKey,
    options: { readonly signsUntilMs: number },
  ): Promise<void>
}

/** Keys that the database keeps, sealed with the secret of the instance. */
export function createSigningKeys(db: Database, secret: InstanceSecret): SigningKeys {
  const making = new Map<string, Promise<readonly SigningKey[]>>()
  const wordsOf = ({ ownerId, format }: PackageNamespace) => `signing-key ${ownerId} ${format}`
  const open = (namespace: PackageNamespace, { privateSealed, publicText }: SealedKey) => ({
    privateKey: secret.unseal(privateSealed, wordsOf(namespace)),
    publicKey: publicText,
  })
  const makeSealed = async (namespace: PackageNamespace, make: MakeKey): Promise<SealedKey> => {
    const { privateKey, publicKey } = await make()
    return { privateSealed: secret.seal(privateKey, wordsOf(namespace)), publicText: publicKey }
  }
  const makeFirst = async (namespace: PackageNamespace, make: MakeKey) => {
    // Another process may have been faster: then its key is the one.
    await addSigningKey(db, namespace, await makeSealed(namespace, make))
    const kept = await listSigningKeys(db, namespace)
    if (kept.length === 0) throw new Error('a signing key just made cannot be found')
    return kept.map((key) => open(namespace, key))
  }
  return {
    async of(namespace, make) {
      const known = await listSigningKeys(db, namespace)
      if (known.length > 0) return known.map((key) => open(namespace, key))
      const words = wordsOf(namespace)
      const started = making.get(words) ?? makeFirst(namespace, make)
      making.set(words, started)
      try {
        return await started
      } finally {
        making.delete(words)
      }
    },
    async rotate(namespace, make, { signsUntilMs }) {
      const [from] = await listSigningKeys(db, namespace)
      if (from === undefined) throw new Failure('not_found', NO_KEY)
      try {
        open(namespace, from)
      } catch (cause) {
        // The gateway could not open what would be sealed here.
        throw new Failure('conflict', OTHER_SECRET, { cause })
      }
      const to = await makeSealed(namespace, make)
      const isRotated = await rotateSigningKey(db, namespace, { from, to, signsUntilMs })
      if (!isRotated) throw new Failure('conflict', 'Another rotation was faster.')
    },
  }
}

const NO_KEY = 'There is no key yet: it is made when clients or an index need it first.'
const OTHER_SECRET =
  'The key was sealed with another secret.key: use the data folder and the account of the gateway.'
