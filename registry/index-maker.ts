/** The interface of index makers, which build the index files of a format from its entries. */

import type { Awaitable } from '../conf/lib/awaitable.js'
import type { Digests, JsonObject, PackageFile } from '../conf/package.js'
import type { Settings } from '../conf/settings.js'

/** Builds the files of an index from its entries. Equal entries give equal files. */
export interface IndexMaker {
  /** Version of the output of `render`; incrementing it renders all stored texts again. */
  readonly revision: number
  /** Creates a key pair for an owner, as texts. Required if `build` signs. */
  makeSigningKey?(ownerName: string, settings: Settings['packages']): Promise<SigningKey>
  /**
   * Returns the time for which the files of an index are valid; undefined for no limit. Files are
   * built again when half of it has passed, or when it changes.
   */
  validMs?(settings: Settings['packages']): number | undefined
  /** Returns the forms in which `build` needs the text of that name. */
  formsOf(name: string): readonly TextForm[]
  /**
   * Renders a run of entries for each text of the index, by the text's name. A run has all entries
   * of a range of keys, in key order; entries of the same key are in the order of publishing. The
   * whole text is the concatenation of the texts of all runs.
   */
  render(
    entries: readonly IndexEntry[],
    of: RenderContext,
  ): Awaitable<ReadonlyMap<string, Rendered>>
  /** Returns the size of an entry in large texts, which limits the size of runs. */
  bytesOf?(entry: IndexEntry): number
  /** Writes all files of the index. There is at least one text. */
  build(input: IndexInput, output: IndexOutput): Promise<void>
}

/**
 * Encoding of a text. `deflated`: a part of a DEFLATE stream (RFC 1951) that ends at a whole byte
 * and is not the last part. `xz`: a block of an xz stream; not available without the program xz.
 */
export type TextForm = 'plain' | 'deflated' | 'xz'

export interface RenderContext {
  readonly subject: string
  /** All parts of the index, in order. If they change, all runs are rendered again. */
  readonly parts: readonly string[]
}

export interface Rendered {
  readonly content: Uint8Array
  /** Number of records. */
  readonly count: number
}

export interface SigningKey {
  readonly privateKey: string
  /** The form in which clients get the key. */
  readonly publicKey: string
}

export interface IndexInput {
  readonly subject: string
  /** Time of the last change. */
  readonly changedAtMs: number
  /** Time for which the files are valid from `changedAtMs` on; undefined for no limit. */
  readonly validMs: number | undefined
  /** Texts by their names, in order. None is empty. */
  readonly texts: ReadonlyMap<string, IndexText>
  /** Returns the keys that must all sign, newest first; at least one. */
  signingKeys(): Promise<readonly SigningKey[]>
}

export interface IndexText {
  readonly bytes: number
  readonly crc32: number
  /** Number of records. */
  readonly count: number
  readonly forms: Readonly<Partial<Record<TextForm, PlacedText>>>
  /** Blocks of the form `xz`. */
  readonly xzBlocks: readonly XzBlock[]
}

export interface XzBlock {
  /** Size of the block without its padding. */
  readonly unpaddedBytes: number
  /** Size of the decompressed content. */
  readonly bytes: number
}

/** A text in one form: a piece of a file to write. */
export interface PlacedText {
  readonly name: string
  readonly form: TextForm
  readonly spans: readonly Span[]
}

export interface Span {
  /** Digest of the bytes. */
  readonly id: string
  /** Undefined for bytes that this build rendered. */
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

/** The pieces of a file, in order. */
export type FileContent = ReadonlyArray<Uint8Array | PlacedText>

export interface IndexOutput {
  /** Writes a file of the index. Clients can read it once all files are written. */
  write(path: string, content: FileContent): Promise<WrittenFile>
  /** Reads the bytes of such a file, for example to sign them. */
  read(content: FileContent): AsyncIterable<Uint8Array>
}

/** A written file, as other files of the index name it. */
export interface WrittenFile {
  readonly path: string
  readonly bytes: number
  readonly digests: Digests
}
