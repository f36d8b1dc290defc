/** The package store of one request: the packages of one owner in one format. */

import type { Package, PackageFormat } from '../conf/package.js'
import type { User } from '../sql/accounts/users.js'
import type { Quota } from '../sql/packages/owner-settings.js'
import { findFile, listFirstFileIds } from '../sql/packages/package-files.js'
import { findVersion, listFullVersions, listVersions } from '../sql/packages/package-versions.js'
import { findPackage, searchPackages } from '../sql/packages/packages.js'
import {
  findRetiredFile,
  findRetiredPackage,
  findRetiredVersion,
} from '../sql/packages/retired-versions.js'
import type { IndexMaker, SigningKey } from './index-maker.js'
import type { PackageQuery, PackageSource, PackageStore, Upload } from './package-store.js'
import { publishReceived } from './publish.js'
import { type ReceivedFile, receiveFile } from './received-file.js'
import type { Registry } from './registry.js'
import { removeFile, removeVersion } from './remove.js'
import { serveFile, servePackageFile } from './serve.js'

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
  /** Finds the repository of a package for the caller; see `PackageStore.sourceOf`. */
  readonly sourceOf: (of: Package) => Promise<PackageSource | undefined>
  /**
   * True if packages, versions and files are found by name for a while after a cleanup rule has
   * removed them, for clients that have read an index or a list before.
   */
  readonly findsRetired?: boolean
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
    return await registry.signingKeys.of(namespace, () =>
      makeSigningKey(options.ownerName, registry.settings()),
    )
  }
  const retired = async <T>(find: (sinceMs: number) => Promise<T>): Promise<T | undefined> =>
    options.findsRetired ? await find(Date.now() - registry.settings().indexKeptMs) : undefined
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
      const { quota } = limitsOf(registry, options)
      const { user, repositoryId } = options
      const publisher = { db, storage, namespace, userId: user.id, repositoryId, quota }
      await publishReceived(publisher, file, publication)
    },
    findPackage: async (name) =>
      (await findPackage(db, namespace, name)) ??
      (await retired((sinceMs) => findRetiredPackage(db, namespace, { name, sinceMs }))),
    listPackages: (query) => searchPackages(db, { ...namespace, ...searchOf(query) }),
    listVersions: (packageId) => listVersions(db, packageId),
    listFullVersions: (packageId) => listFullVersions(db, packageId),
    findVersion: async (packageId, version) =>
      (await findVersion(db, packageId, version)) ??
      (await retired((sinceMs) => findRetiredVersion(db, packageId, { version, sinceMs }))),
    findFile: async (name) =>
      (await findFile(db, namespace, name)) ??
      (await retired((sinceMs) => findRetiredFile(db, namespace, { name, sinceMs }))),
    removeFile: (query) => removeFile(registry, namespace, query),
    removeVersion: (packageName, version) =>
      removeVersion(registry, namespace, { packageName, version }),
    serve: (file, request, options) => servePackageFile(registry, { file, request, options }),
    async countDownloads(versions) {
      const fileIds = await listFirstFileIds(db, namespace, versions)
      for (const fileId of fileIds) registry.downloads.count(fileId)
    },
    async openIndex(subject) {
      const maker = makerOf(options)
      const validMs = maker.validMs?.(registry.settings())
      return await registry.indexes.open({ namespace, subject, maker, validMs, signingKeys })
    },
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
    sourceOf: options.sourceOf,
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

/** Returns the quota that applies to owners without a quota of their own. */
export function configuredQuota({
  ownerVersionsMax: versionsMax,
  ownerBytesMax: bytesMax,
}: ReturnType<Registry['settings']>): Quota {
  return { versionsMax, bytesMax }
}

/** Returns the limits of the caller. Site administrators have none. */
function limitsOf(registry: Registry, { user, format }: PackageStoreOptions) {
  if (user?.isAdmin) return { bytesMax: undefined, quota: undefined }
  const limits = registry.settings()
  return { bytesMax: limits.sizeBytesMax[format], quota: configuredQuota(limits) }
}

function searchOf({ text, property, page = 1, limit }: PackageQuery) {
  return {
    ...(text === undefined ? {} : { text }),
    ...(property === undefined ? {} : { property }),
    ...(limit === undefined ? {} : { limit, offset: (page - 1) * limit }),
  }
}
