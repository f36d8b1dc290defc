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

/** The packages of one owner in one format, for the length of one request. */
export interface Shelf {
  /** Where these packages are for clients, without a slash at the end. */
  readonly baseUrl: string

  /**
   * Takes in a file to look at. What is not published by the end of the request goes again. Throws
   * `forbidden` as soon as it is larger than the format or the owner may have.
   */
  receive(body: AsyncIterable<Uint8Array>): Promise<Upload>
  /**
   * Reads what an upload says of itself, outside of the event loop. Throws `bad_request` for a file
   * that is not a package of the format or takes too long to read, `unavailable` if too many files
   * are being read.
   */
  inspect<F extends InspectedFormat>(format: F, upload: Upload): Promise<Inspected<F>>
  /**
   * Keeps a file as what it turned out to be: when this returns it is durable, and the next reader
   * of any list finds it. Throws `conflict` when it is there already, `forbidden` when the owner
   * may not have more, `bad_request` for a name or version of more than 255 characters.
   */
  publish(upload: Upload, publication: Publication): Promise<void>

  /** The package of that name, in any case. */
  findPackage(name: string): Promise<Package | undefined>
  /** Packages that have a version, by name; `text` is a part of the name. */
  listPackages(question: PackageQuestion): Promise<PackageList>
  /** Newest upload first. */
  listVersions(packageId: number): Promise<readonly PackageVersion[]>
  /** Newest upload first, each with its files and metadata: for documents that are kept. */
  listFullVersions(packageId: number): Promise<readonly FullVersion[]>
  /** That version, in any case. */
  findVersion(packageId: number, version: string): Promise<FullVersion | undefined>
  /** That file, its names in any case; the oldest where there are several. */
  findFile(question: FileQuestion): Promise<PackageFile | undefined>

  /** Removes a file, and its version with the last one. Returns whether there was one. */
  removeFile(question: FileQuestion): Promise<boolean>
  /** Removes a version with all of its files. Returns whether there was one. */
  removeVersion(packageName: string, version: string): Promise<boolean>

  /**
   * The bytes of a file as an answer: ranges, conditions, HEAD. Counts a download. To be given
   * `request` as it came.
   */
  serve(file: PackageFile, request: Request, options: ServeOptions): Promise<Reply>
  /**
   * An index as it is at this moment, with all that was published before; undefined when there is
   * none, or nothing in it. Throws `unavailable` when it takes too long to be made.
   */
  openIndex(subject: string): Promise<OpenIndex | undefined>
  /**
   * The file of an index with that digest, of now or of a while ago: a client that has read one
   * file of a set finds the others of the same set by these. The digest is in hexadecimal.
   */
  findIndexFile(subject: string, digest: IndexDigest): Promise<IndexFile | undefined>
  /**
   * What the owner's indexes are signed with, newest first: one key, made when it is first asked
   * for, and those before it for as long as they sign along.
   */
  signingKeys(): Promise<readonly SigningKey[]>
  /** A file of an index as an answer; else as `serve` does. */
  serveIndexFile(file: IndexFile, request: Request, options: ServeOptions): Promise<Reply>

  /**
   * A document that is a function of one package, as an answer with its conditions. It is made once
   * for each generation of the package and kept in memory; `kind` tells it from other ones.
   */
  document(of: Package, request: Request, options: DocumentOptions): Promise<Reply>
}

/** A file that was taken in and is nothing yet. */
export interface Upload extends ByteSource {
  readonly digests: Digests
}

/** What a file turned out to be. */
export interface Publication {
  readonly packageName: string
  /** To the format a name in another case is another package, which is a `conflict`. */
  readonly isExactName?: true
  readonly version: string
  readonly fileName: string
  /** Tells files of one name in one version apart. */
  readonly compositeKey?: string
  /** What may be there only once: the version, or a file of that name and key. */
  readonly unique: 'version' | 'file'
  /** What later documents are made of; of a version that is there already it is left as it was. */
  readonly metadata?: JsonObject
  /** What packages are searched by, of the version. Several may have one name. */
  readonly properties?: ReadonlyArray<Property>
  /** The indexes that the file belongs into, from now until it is removed. */
  readonly indexes?: ReadonlyArray<IndexPlace>
}

export interface IndexPlace {
  /**
   * Where its record stands among the others, which are in the order of the bytes of their keys.
   * Records of the same key are always made together. Printable ASCII, at most 511 characters.
   * Absent: in the order of publishing, where each upload changes the end of the index alone.
   */
  readonly key?: string
  /**
   * Which set of files the clients read together, such as one distribution: at most 255 characters.
   */
  readonly subject: string
  /** Where in it, such as component and architecture: at most 255 characters. */
  readonly part: string
  /** What the index says of the file. */
  readonly metadata: JsonObject
}

export interface Property {
  readonly name: string
  /** At most 500 characters. */
  readonly value: string
}

export interface PackageQuestion {
  /** A part of the name, in any case. */
  readonly text?: string
  /** That a version of the package has, exactly. */
  readonly property?: Property
  /** From 1 on. Absent, with `limit`: all. */
  readonly page?: number
  readonly limit?: number
}

export interface PackageList {
  readonly packages: ReadonlyArray<ListedPackage>
  /** Of all pages. */
  readonly total: number
}

export interface ListedPackage extends Package {
  /** Of all files of all versions. */
  readonly downloads: number
  /** The last one that was uploaded. */
  readonly latest: PackageVersion & { readonly metadata: JsonObject }
}

export interface FileQuestion {
  readonly packageName: string
  readonly version: string
  readonly fileName: string
  /** Absent: any. */
  readonly compositeKey?: string
}

export interface ServeOptions {
  /** By default `application/octet-stream`. */
  readonly contentType?: string
  /** What a browser saves it as; by default the file's own name. */
  readonly downloadName?: string
  readonly headers?: NonNullable<Reply['headers']>
}

export interface DocumentOptions {
  readonly kind: string
  readonly contentType: string
  readonly headers?: NonNullable<Reply['headers']>
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
  /** When it was made, to the second: never the same for two generations of an index. */
  readonly modifiedAtMs: number
}

export type IndexDigest =
  | { readonly algorithm: 'sha256'; readonly digest: string }
  | { readonly algorithm: 'sha512'; readonly digest: string }
