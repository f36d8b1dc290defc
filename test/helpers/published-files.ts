/** Package files for tests, published without a request. */

import { openPackageStore } from '../../registry/lend-package-store.js'
import type { PackageStore } from '../../registry/package-store.js'
import type { Registry } from '../../registry/registry.js'
import type { User } from '../../sql/accounts/users.js'

export interface PublishedFile {
  readonly user: User
  /** Name of the package and of its file. */
  readonly name: string
  readonly text: string
}

/** Publishes version 1.0 of a generic package; returns its package store. */
export async function aPublishedFile(
  registry: Registry,
  file: PublishedFile,
): Promise<PackageStore> {
  const { user, name, text } = file
  const store = openPackageStore(registry, {
    ownerId: user.id,
    ownerName: user.name,
    format: 'generic',
    user,
    baseUrl: '',
    sourceOf: async () => undefined,
    index: undefined,
  })
  const upload = await store.receive(oneChunk(text))
  const publication = { packageName: name, version: '1.0', fileName: name }
  await store.publish(upload, { ...publication, unique: 'file' })
  await store.close()
  return store
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
