/** The package store of one request: the packages of one owner in one format. */

import type { PackageFormat } from '../conf/package.js'
import type { User } from '../sql/accounts/users.js'
import { findFile } from '../sql/packages/package-files.js'
import { findVersion, listFullVersions, listVersions } from '../sql/packages/package-versions.js'
import { findPackage, searchPackages } from '../sql/packages/packages.js'
import { removeFile, removeVersion } from '../sql/packages/publications.js'
import { lastModifiedTime } from './conditions.js'
import type { IndexMaker, SigningKey } from './index-maker.js'
import type { PackageQuery, PackageStore, Upload } from './package-store.js'
import { publishReceived } from './publish.js'
import { type ReceivedFile, receiveFile } from './received-file.js'
import type { Registry } from './registry.js'
import { serveFile } from './serve.js'

export interface PackageStoreOptions {
  readonly ownerId: number
  readonly ownerName: string
  readonly format: PackageFormat
  /** Index maker of the format; undefined if the format has no indexes. */
  readonly index: IndexMaker | undefined
  /** Caller; undefined for anonymous requests, which cannot publish. */
  readonly user: User | undefined
  /** Repository of the job that calls; absent for users. */
  readonly repositoryId?: number | undefined
  readonly baseUrl: string
}

/** A package store that must be closed when the request has its answer. */
export interface LentPackageStore extends PackageStore {
  /** Discards received files that were not published. */
  close(): Promise<void>
}

/** Returns the package store for an authorized request. */
export function openPackageStore(
  registry: Registry,
  options: PackageStoreOptions,
): LentPackageStore {
  const { db, storage } = registry
  const { ownerId, format, baseUrl } = options
  const namespace = { ownerId, format }
  const received = new Map<Upload, ReceivedFile>()
  const signingKeys = async (): Promise<readonly SigningKey[]> => {
    const { makeSigningKey } = makerOf(options)
    if (makeSigningKey === undefined) throw new Error(`the format ${format} has no signing keys`)
    return await registry.signingKeys.of(namespace, () => makeSigningKey(options.ownerName))
  }
  return {
    baseUrl,
    async receive(body) {
      const folder = storage.incomingFolder
      const { bytesMax } = limitsOf(registry, options)
      const file = await receiveFile(body, { folder, bytesMax, digest: registry.digest })
      received.set(file, file)
      return file
    },
    inspect(format, upload) {
      const file = received.get(upload)
      if (file === undefined) throw new Error('the upload was not received by this store')
      return registry.inspect(format, file, ownerId)
    },
    async publish(upload, publication) {
      const file = received.get(upload)
      if (file === undefined) throw new Error('the upload was not received by this store')
      if (options.user === undefined) throw new Error('an anonymous caller cannot publish')
      const { ownerBytesMax } = limitsOf(registry, options)
      const { user, repositoryId } = options
      const publisher = { db, storage, namespace, userId: user.id, repositoryId, ownerBytesMax }
      await publishReceived(publisher, file, publication)
    },
    findPackage: (name) => findPackage(db, namespace, name),
    listPackages: (query) => searchPackages(db, { ...namespace, ...searchOf(query) }),
    listVersions: (packageId) => listVersions(db, packageId),
    listFullVersions: (packageId) => listFullVersions(db, packageId),
    findVersion: (packageId, version) => findVersion(db, packageId, version),
    findFile: (query) => findFile(db, namespace, query),
    removeFile: (query) => removeFile(db, namespace, query),
    removeVersion: (packageName, version) => removeVersion(db, namespace, { packageName, version }),
    async serve(file, request, options) {
      const dated = { ...file, changedAtMs: lastModifiedTime(file.createdAtMs) }
      const { reply, isDownload } = await serveFile(registry, { file: dated, request, options })
      if (isDownload) registry.downloads.count(file.id)
      return reply
    },
    openIndex: async (subject) =>
      registry.indexes.open({ namespace, subject, maker: makerOf(options), signingKeys }),
    findIndexFile: (subject, digest) => registry.indexes.findFile({ namespace, subject }, digest),
    signingKeys,
    async serveIndexFile(file, request, options) {
      const { path, bytes, digests, blobKey, modifiedAtMs } = file
      const name = path.slice(path.lastIndexOf('/') + 1)
      // Sent even if it is recent, because each generation has a different time. Without a date,
      // apt uses its own clock.
      const blob = { name, bytes, digests, blobKey, changedAtMs: modifiedAtMs }
      // Not redirected, because the storage sends its own dates, with which clients would keep
      // outdated index files.
      const here = { ...registry, storage: { ...storage, directUrl: async () => undefined } }
      return (await serveFile(here, { file: blob, request, options })).reply
    },
    document: (of, request, options) => registry.documents.answer(of, request, options),
    async close() {
      for (const file of received.values()) await file.discard()
      received.clear()
    },
  }
}

function makerOf({ format, index }: PackageStoreOptions): IndexMaker {
  if (index === undefined) throw new Error(`the format ${format} has no indexes`)
  return index
}

/** Returns the size limits of the caller. Site administrators have none. */
function limitsOf(registry: Registry, { user, format }: PackageStoreOptions) {
  if (user?.isAdmin) return { bytesMax: undefined, ownerBytesMax: undefined }
  const { sizeBytesMax, ownerBytesMax } = registry.limits()
  return { bytesMax: sizeBytesMax[format], ownerBytesMax }
}

function searchOf({ text, property, page = 1, limit }: PackageQuery) {
  return {
    ...(text === undefined ? {} : { text }),
    ...(property === undefined ? {} : { property }),
    ...(limit === undefined ? {} : { limit, offset: (page - 1) * limit }),
  }
}
