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
import type { Inspected, InspectedFormat } from './inspections.js'
import type { Install } from './install.js'

/** A format: how its clients ask, and what they are told. */
export interface Format {
  /** As it stands in addresses and in the database. */
  readonly name: PackageFormat
  readonly routes: readonly FormatRoute[]
  /** How its indexes are made, for a format whose clients read such. */
  readonly index?: IndexMaker
  /** Instructions for installing a package, which its page shows. */
  readonly install: Install
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
  /**
   * Throws a `Failure` or rejects with it. Uploads are read by `Shelf.inspect` alone: the uploader
   * chooses what that costs.
   */
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

/** Makes the files of an index from what was published into it: the same from the same. */
export interface IndexMaker {
  /** To be raised with any change of what `render` gives: what was kept of it is made anew. */
  readonly revision: number
  /** A new pair of keys for an owner; both as texts. Needed where `build` signs. */
  makeSigningKey?(ownerName: string): Promise<SigningKey>
  /** The forms in which `build` needs the text of that name. */
  formsOf(name: string): readonly TextForm[]
  /**
   * What the texts of the index, by their names, have of some entries: of all those whose keys are
   * in a stretch, in the order of their keys, and where these are the same in that in which they
   * came. What it gives for one stretch follows what it gave for the one before.
   */
  render(entries: readonly IndexEntry[], of: RenderContext): ReadonlyMap<string, Rendered>
  /** Writes all files of the index; there is at least one text. */
  build(input: IndexInput, output: IndexOutput): Promise<void>
}

/**
 * `deflated`: a part of a DEFLATE stream (RFC 1951) that ends at a whole byte and is not the last.
 * `xz`: a block of a stream of that format; there is none where the program is not.
 */
export type TextForm = 'plain' | 'deflated' | 'xz'

export interface RenderContext {
  readonly subject: string
  /** Of the whole index, in order. When they change everything is made anew. */
  readonly parts: readonly string[]
}

export interface Rendered {
  readonly content: Uint8Array
  /** How many records it has, for makers that need to know. */
  readonly count: number
}

export interface SigningKey {
  readonly privateKey: string
  /** As clients are given it. */
  readonly publicKey: string
}

export interface IndexInput {
  readonly subject: string
  /** When something of it changed last. */
  readonly changedAtMs: number
  /** By their names, in order; none is empty. */
  readonly texts: ReadonlyMap<string, IndexText>
  /** All of these are to sign; newest first, at least one. */
  signingKeys(): Promise<readonly SigningKey[]>
}

export interface IndexText {
  readonly bytes: number
  readonly crc32: number
  /** The records of all stretches. */
  readonly count: number
  readonly forms: Readonly<Partial<Record<TextForm, PlacedText>>>
  /** Of its form `xz`. */
  readonly xzBlocks: readonly XzBlock[]
}

export interface XzBlock {
  /** Of the block, without what fills it up. */
  readonly unpaddedBytes: number
  /** Of what it holds. */
  readonly bytes: number
}

/** A text in one form, where it stands: a piece of a file that is to be written. */
export interface PlacedText {
  readonly name: string
  readonly form: TextForm
  readonly spans: readonly Span[]
}

export interface Span {
  /** The same for the same bytes alone. */
  readonly id: string
  /** Absent: of what this build has made. */
  readonly blobKey: string | undefined
  readonly start: number
  readonly bytes: number
}

export interface IndexEntry {
  readonly part: string
  readonly metadata: JsonObject
  readonly packageName: string
  readonly version: string
  readonly file: PackageFile
}

/** What a file is put together from. */
export type FileContent = ReadonlyArray<Uint8Array | PlacedText>

export interface IndexOutput {
  /** Writes a file of the index; it can be read by clients when all of them are there. */
  write(path: string, content: FileContent): Promise<WrittenFile>
  /** The bytes that a file of this content has, such as for a signature. */
  read(content: FileContent): AsyncIterable<Uint8Array>
}

/** What other files of the index say of this one. */
export interface WrittenFile {
  readonly path: string
  readonly bytes: number
  readonly digests: Digests
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
