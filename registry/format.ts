/** What a package format is, and what the house lends to each of them. */

import type { Awaitable } from '../conf/awaitable.js'
import type { Failure } from '../conf/failures.js'
import type { Reply, Request } from '../conf/http.js'
import type {
  Digests,
  FullVersion,
  JsonObject,
  Package,
  PackageFile,
  PackageFormat,
  PackageVersion,
} from '../conf/package.js'
import type { ByteSource } from './archive/byte-source.js'

/** A format: how its clients ask, and what they are told. */
export interface Format {
  /** As it stands in addresses and in the database. */
  readonly name: PackageFormat
  readonly routes: readonly FormatRoute[]
  /** A refusal as its clients read one; the status is that of the failure. */
  refuse(failure: Failure): Pick<Reply, 'headers' | 'body'>
}

export interface FormatRoute {
  /** One for GET answers HEAD as well. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /**
   * Below `/api/packages/{owner}/{format}`, with parameters in braces for whole segments:
   * `/{name}/{version}`, and empty for the address itself. A last segment in the form `{rest...}`
   * takes all segments from there on, where nothing more exact fits.
   */
  readonly path: string
  /** What the caller must be allowed with the owner's packages; `signed-in`: to be somebody. */
  readonly access: 'read' | 'write' | 'signed-in'
  /** Throws a `Failure` or rejects with it. */
  readonly handle: (shelf: Shelf, call: FormatCall) => Awaitable<Reply>
}

export interface FormatCall {
  readonly request: Request
  /** Percent-decoded, but for one in the form `{rest...}`, which is as it was sent. */
  readonly params: Readonly<Record<string, string>>
}

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
