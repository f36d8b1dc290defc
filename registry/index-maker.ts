/** Indexes of a package format: entries in, files that clients read together out. */

import type { Digests, JsonObject, PackageFile } from '../conf/package.js'

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
