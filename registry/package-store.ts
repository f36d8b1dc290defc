/** The packages of one owner in one format, as handlers of a format use them. */

import type { Reply, Request } from '../conf/http.js'
import type {
  Digests,
  FullVersion,
  JsonObject,
  Package,
  PackageFile,
  PackageVersion,
} from '../conf/package.js'
import type { ByteSource } from './archive/byte-source.js'
import type { SigningKey } from './index-maker.js'
import type { Inspected, InspectedFormat } from './inspections.js'

/** The packages of one owner in one format, open for one request. */
export interface PackageStore {
  /** URL of the registry for clients, without a slash at the end. */
  readonly baseUrl: string

  /**
   * Receives a file into temporary storage, which is removed at the end of the request unless the
   * file is published. Throws `forbidden` as soon as the file exceeds the size limit of the format
   * or the owner.
   */
  receive(body: AsyncIterable<Uint8Array>): Promise<Upload>
  /**
   * Reads the metadata in an upload, outside the event loop. Throws `bad_request` if the file is
   * not a package of the format or takes too long to read, and `unavailable` if too many files are
   * being read.
   */
  inspect<F extends InspectedFormat>(format: F, upload: Upload): Promise<Inspected<F>>
  /**
   * Publishes a file. When this returns, the file is durable and the next reader of any index finds
   * it. Throws `conflict` if it exists already or may not return with these bytes, `forbidden` if a
   * quota of the owner is exceeded, `bad_request` if the name or the version is longer than 255
   * characters.
   */
  publish(upload: Upload, publication: Publication): Promise<void>

  /** Finds a package by its name, ignoring case. */
  findPackage(name: string): Promise<Package | undefined>
  /** Lists packages that have a version, by name. */
  listPackages(query: PackageQuery): Promise<PackageList>
  /** Lists the versions of a package, newest upload first. */
  listVersions(packageId: number): Promise<readonly PackageVersion[]>
  /** Lists versions with files and metadata, newest upload first; for documents that are cached. */
  listFullVersions(packageId: number): Promise<readonly FullVersion[]>
  /** Finds a version, ignoring case. */
  findVersion(packageId: number, version: string): Promise<FullVersion | undefined>
  /** Finds a file, ignoring the case of all names; the oldest if several match. */
  findFile(query: FileQuery): Promise<PackageFile | undefined>

  /**
   * Removes a file, and its version with the last one. Returns whether there was one. Throws
   * `conflict` if the version is protected, as does `removeVersion`.
   */
  removeFile(query: FileQuery): Promise<boolean>
  /** Removes a version with all of its files. Returns whether there was one. */
  removeVersion(packageName: string, version: string): Promise<boolean>

  /**
   * Returns a file as a reply to `request`, with ranges, conditions and HEAD. Counts a download,
   * unless the client reports it to `countDownloads`.
   */
  serve(file: PackageFile, request: Request, options: ServeOptions): Promise<Reply>
  /** Counts a download of the first file of each version that exists. */
  countDownloads(versions: readonly PublishedVersion[]): Promise<void>
  /**
   * Opens the current generation of an index, which has all that was published before the call.
   * Undefined if the index is empty. Throws `unavailable` if building it takes too long.
   */
  openIndex(subject: string): Promise<OpenIndex | undefined>
  /**
   * Finds a file of the current or a recent generation of an index by its hexadecimal digest, so
   * that a client that has read one file finds the others of the same generation.
   */
  findIndexFile(subject: string, digest: IndexDigest): Promise<IndexFile | undefined>
  /**
   * Returns the keys that sign the owner's indexes, newest first: the current key, which the first
   * call creates, and earlier keys until they are retired.
   */
  signingKeys(): Promise<readonly SigningKey[]>
  /** Returns a file of an index as a reply, as `serve` does for packages. */
  serveIndexFile(file: IndexFile, request: Request, options: ServeOptions): Promise<Reply>

  /**
   * Returns a document that is a function of one package as a reply, with conditions. It is built
   * once for each generation of the package and cached in memory under its `kind`.
   */
  document(of: Package, request: Request, options: DocumentOptions): Promise<Reply>
  /** Finds the repository that a package is linked to; undefined if the caller cannot read it. */
  sourceOf(of: Package): Promise<PackageSource | undefined>
}

/** The repository of a package, for a caller who can read it. */
export interface PackageSource {
  /** URL from which Git clones. */
  readonly url: string
  /** Fingerprint of the refs, which differs after each change. */
  readonly state: string
  /** Returns the ids of the commits of those tags that exist, by the name of the tag. */
  commitsOf(tags: readonly string[]): Promise<ReadonlyMap<string, string>>
}

/** A file that was received and is not published yet. */
export interface Upload extends ByteSource {
  readonly digests: Digests
}

/** A file's place among the packages of the format. */
export interface Publication {
  readonly packageName: string
  /** The format distinguishes case: a name that differs in case alone is a `conflict`. */
  readonly isExactName?: true
  readonly version: string
  readonly fileName: string
  /** Distinguishes files of the same name in one version. */
  readonly compositeKey?: string
  /** Object that can be published only once: the version, or the file of that name and key. */
  readonly unique: 'version' | 'file'
  /** Metadata of the version. That of an existing version is not changed. */
  readonly metadata?: JsonObject
  /** README of the package in Markdown. The first one of a version is kept. */
  readonly readme?: string | undefined
  /** Properties by which packages are searched. Several may have the same name. */
  readonly properties?: ReadonlyArray<Property>
  /** The indexes that list the file until it is removed. */
  readonly indexes?: ReadonlyArray<IndexPlace>
}

export interface IndexPlace {
  /**
   * Sort key of the record: records are in the byte order of their keys, and records of the same
   * key are always rendered together. Printable ASCII, at most 511 characters. Without a key,
   * records are in the order of publishing, so that an upload changes the end of the index alone.
   */
  readonly key?: string
  /**
   * Name of the index, such as a distribution: its files are read together. At most 255 characters.
   */
  readonly subject: string
  /** Part of the index, such as component and architecture. At most 255 characters. */
  readonly part: string
  /** Fields of the record. */
  readonly metadata: JsonObject
}

export interface Property {
  readonly name: string
  /** Value of at most 500 characters. */
  readonly value: string
}

export interface PackageQuery {
  /** Part of the name, ignoring case. */
  readonly text?: string
  /** Property that a version of the package has, with exactly this value. */
  readonly property?: Property
  /** Page number from 1. Without page and limit, all packages are listed. */
  readonly page?: number
  readonly limit?: number
}

export interface PackageList {
  readonly packages: ReadonlyArray<ListedPackage>
  /** Number of packages on all pages. */
  readonly total: number
}

export interface ListedPackage extends Package {
  /** Downloads of all files of all versions. */
  readonly downloads: number
  /** Version of the newest upload. */
  readonly latest: PackageVersion & { readonly metadata: JsonObject }
}

export interface FileQuery {
  readonly packageName: string
  readonly version: string
  readonly fileName: string
  /** Composite key; if absent, files with any key match. */
  readonly compositeKey?: string
}

export interface PublishedVersion {
  readonly packageName: string
  readonly version: string
}

export interface ServeOptions {
  /** Content type; `application/octet-stream` by default. */
  readonly contentType?: string
  /** Name under which a browser saves the file; its own name by default. */
  readonly downloadName?: string
  /** True if the client reports its downloads itself, so that this one is not counted. */
  readonly isReported?: boolean
  readonly headers?: NonNullable<Reply['headers']>
}

export interface DocumentOptions {
  readonly kind: string
  readonly contentType: string
  readonly headers?: NonNullable<Reply['headers']>
  /**
   * Source that the document depends on, in addition to the package. The document is cached for
   * this source in its present state, and the reply has no date, because the document also changes
   * with the refs, the link and the permissions of the caller.
   */
  readonly source?: PackageSource | undefined
  readonly make: () => Promise<string>
}

export interface OpenIndex {
  readonly changedAtMs: number
  findFile(path: string): Promise<IndexFile | undefined>
}

/** A file of an index at one moment; it never changes. */
export interface IndexFile {
  readonly path: string
  readonly bytes: number
  readonly digests: Digests
  readonly blobKey: string
  /** Time of the build, to the second; differs between two generations of an index. */
  readonly modifiedAtMs: number
}

export type IndexDigest =
  | { readonly algorithm: 'sha256'; readonly digest: string }
  | { readonly algorithm: 'sha512'; readonly digest: string }
