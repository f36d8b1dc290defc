/** The keys that sign an owner's indexes: created on first use, and rotated with an overlap. */

import { Failure } from '../conf/failures.js'
import type { InstanceSecret } from '../conf/instance-secret.js'
import { SEAL_CONTEXTS } from '../conf/seal-contexts.js'
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
  /** Returns the keys of an owner for a format, newest first. Creates the first one with `make`. */
  of(namespace: PackageNamespace, make: MakeKey): Promise<readonly SigningKey[]>
  /**
   * Creates a new key. Earlier keys sign in addition until `signsUntilMs`. Throws `not_found` if
   * there is no key yet, and `conflict` if another rotation ran concurrently or the keys were
   * sealed with another secret.
   */
  rotate(
    namespace: PackageNamespace,
    make: MakeKey,
    options: { readonly signsUntilMs: number },
  ): Promise<void>
}

/** Creates access to the keys, which the database stores sealed with the instance's secret. */
export function createSigningKeys(db: Database, secret: InstanceSecret): SigningKeys {
  const making = new Map<string, Promise<readonly SigningKey[]>>()
  const contextOf = ({ ownerId, format }: PackageNamespace) =>
    SEAL_CONTEXTS.indexKey(ownerId, format)
  const open = (namespace: PackageNamespace, { privateSealed, publicText }: SealedKey) => ({
    privateKey: secret.unseal(privateSealed, contextOf(namespace)),
    publicKey: publicText,
  })
  const makeSealed = async (namespace: PackageNamespace, make: MakeKey): Promise<SealedKey> => {
    const { privateKey, publicKey } = await make()
    return { privateSealed: secret.seal(privateKey, contextOf(namespace)), publicText: publicKey }
  }
  const makeFirst = async (namespace: PackageNamespace, make: MakeKey) => {
    // If another process has added a key meanwhile, its key is used.
    await addSigningKey(db, namespace, await makeSealed(namespace, make))
    const kept = await listSigningKeys(db, namespace)
    if (kept.length === 0) throw new Error('the signing key was not stored')
    return kept.map((key) => open(namespace, key))
  }
  return {
    async of(namespace, make) {
      const known = await listSigningKeys(db, namespace)
      if (known.length > 0) return known.map((key) => open(namespace, key))
      const context = contextOf(namespace)
      const started = making.get(context) ?? makeFirst(namespace, make)
      making.set(context, started)
      try {
        return await started
      } finally {
        making.delete(context)
      }
    },
    async rotate(namespace, make, { signsUntilMs }) {
      const [from] = await listSigningKeys(db, namespace)
      if (from === undefined) throw new Failure('not_found', NO_KEY)
      try {
        open(namespace, from)
      } catch (cause) {
        // The gateway could not unseal a key that is sealed with this secret.
        throw new Failure('conflict', OTHER_SECRET, { cause })
      }
      const to = await makeSealed(namespace, make)
      const isRotated = await rotateSigningKey(db, namespace, { from, to, signsUntilMs })
      if (!isRotated) throw new Failure('conflict', ROTATED_MEANWHILE)
    },
  }
}

const NO_KEY = 'There is no key yet: it is created when a client or an index first needs it.'
const ROTATED_MEANWHILE = 'Another rotation replaced the key meanwhile: list the keys again.'
const OTHER_SECRET =
  'The key was sealed with another secret.key: use the data folder and the account of the gateway.'
