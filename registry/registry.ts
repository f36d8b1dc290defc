/** The parts that all package formats of one gateway share. */

import { openInstanceSecret } from '../conf/instance-secret.js'
import type { Log } from '../conf/log.js'
import type { Settings } from '../conf/settings.js'
import type { Database } from '../sql/database/database.js'
import { addIssueAttachmentDownloads } from '../sql/issues/issue-attachments.js'
import { addAttachmentDownloads } from '../sql/releases/attachments.js'
import { type BlobBodies, createBlobBodies } from './blob-bodies.js'
import type { StartRemoteDigests } from './digests.js'
import { createDocuments, type Documents } from './documents.js'
import { createDownloads, type Downloads } from './downloads.js'
import { createIndexes, type Indexes } from './indexing/generation.js'
import type { Inspect } from './inspections.js'
import { createSigningKeys, type SigningKeys } from './signing-keys.js'
import { openStorage } from './storage/open.js'
import type { BlobStorage } from './storage/storage.js'
import type { MatchPatterns } from './version-patterns.js'

export interface Registry {
  readonly db: Database
  readonly storage: BlobStorage
  readonly bodies: BlobBodies
  readonly documents: Documents
  readonly downloads: Downloads
  readonly attachmentDownloads: Downloads
  readonly issueAttachmentDownloads: Downloads
  readonly indexes: Indexes
  readonly signingKeys: SigningKeys
  readonly inspect: Inspect
  readonly matchPatterns: MatchPatterns
  readonly settings: () => Settings['packages']
  readonly digest: StartRemoteDigests
  /** Writes the buffered download counts. */
  stop(): Promise<void>
}

export interface RegistryOptions {
  readonly settings: () => Settings
  readonly db: Database
  readonly log: Log
  /** Reads uploads. */
  readonly inspect: Inspect
  readonly matchPatterns: MatchPatterns
  /** Starts digests in another thread. */
  readonly digest: StartRemoteDigests
  /** Compresses with the program xz; undefined if it is not installed. */
  readonly compressXz?: ((bytes: Uint8Array) => Promise<Uint8Array>) | undefined
}

/** Opens the registry with its storage. Throws if the storage cannot be opened. */
export async function openRegistry(options: RegistryOptions): Promise<Registry> {
  const { settings, db, log, inspect, digest, matchPatterns, compressXz } = options
  const storage = await openStorage(settings())
  const downloads = createDownloads(db, log)
  const attachmentDownloads = createDownloads(db, log, addAttachmentDownloads)
  const issueAttachmentDownloads = createDownloads(db, log, addIssueAttachmentDownloads)
  const secret = await openInstanceSecret(settings().data.dir)
  const keptMs = () => settings().packages.indexKeptMs
  return {
    db,
    storage,
    downloads,
    attachmentDownloads,
    issueAttachmentDownloads,
    inspect,
    matchPatterns,
    digest,
    bodies: createBlobBodies(storage),
    documents: createDocuments(),
    indexes: createIndexes({ db, storage, keptMs, compressXz }),
    signingKeys: createSigningKeys(db, secret),
    settings: () => settings().packages,
    async stop() {
      const all = [downloads, attachmentDownloads, issueAttachmentDownloads]
      await Promise.all(all.map((counts) => counts.stop()))
    },
  }
}
