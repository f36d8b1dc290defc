/** The texts of an index: rendered run by run, in every form that the index files need. */

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { appendCrc32 } from '../archive/crc32.js'
import { deflatePart } from '../archive/gzip-file.js'
import { splitXz } from '../archive/xz-file.js'
import type {
  IndexEntry,
  IndexMaker,
  IndexText,
  PlacedText,
  RenderContext,
  Rendered,
  Span,
  TextForm,
} from '../index-maker.js'
import { type Keyed, type RunOfEntries, type RunRange, splitRuns, staleRanges } from './runs.js'
import type { Scratch } from './scratch.js'

/** Rendered run: the pieces of all texts from one key up to the first key of the next run. */
export interface Run {
  readonly from: string
  /** Parts of the entries. */
  readonly parts: readonly string[]
  readonly pieces: ReadonlyMap<string, Piece>
}

/** Piece of a text that one run contributes. */
export interface Piece {
  readonly bytes: number
  readonly crc32: number
  readonly count: number
  readonly spans: Readonly<Partial<Record<TextForm, Span>>>
  /** See `XzBlock`; undefined if the piece has no xz form. */
  readonly unpaddedBytes?: number | undefined
}

/** All runs of an index. The first one begins at the empty key. */
export interface Runs {
  readonly parts: readonly string[]
  readonly runs: readonly Run[]
}

export interface KeyRange {
  readonly from: string
  /** First key after the range; undefined for no limit. */
  readonly to: string | undefined
}

/** Input of a build, and the scratch file for its output. */
export interface Workspace {
  readonly maker: Pick<IndexMaker, 'formsOf' | 'render' | 'bytesOf'>
  readonly subject: string
  parts(): Promise<readonly string[]>
  /** Reads the entries of a range, by key and then in the order of publishing. */
  entries(range: KeyRange): AsyncIterable<IndexEntry & Keyed>
  readonly scratch: Scratch
  /** Compresses with the program xz; undefined if it is not installed. */
  readonly compressXz: ((bytes: Uint8Array) => Promise<Uint8Array>) | undefined
}

/** Runs of the previous generation, and the keys that have changed since. */
export interface PreviousRuns extends Runs {
  readonly changedKeys: readonly string[]
}

/**
 * Returns the runs of the new generation. Renders only the changed ones if there is a previous
 * generation with the same parts, and all runs otherwise.
 */
export async function makeRuns(
  workspace: Workspace,
  former: PreviousRuns | undefined,
): Promise<Runs> {
  if (former !== undefined) {
    const runs = await replaceStale(workspace, former)
    const parts = [...new Set(runs.flatMap((run) => run.parts))].sort()
    if (parts.join('\n') === former.parts.join('\n')) return { parts, runs }
  }
  const parts = await workspace.parts()
  return { parts, runs: await makeRange(workspace, parts, { from: '', to: undefined }) }
}

async function replaceStale(
  workspace: Workspace,
  { parts, runs, changedKeys }: PreviousRuns,
): Promise<readonly Run[]> {
  const froms = runs.map(({ from }) => from)
  const fresh: Run[] = []
  let kept = 0
  for (const { first, end } of staleRanges(froms, changedKeys)) {
    fresh.push(...runs.slice(kept, first))
    fresh.push(...(await makeRange(workspace, parts, rangeOf(froms, { first, end }))))
    kept = end
  }
  return [...fresh, ...runs.slice(kept)]
}

function rangeOf(froms: readonly string[], { first, end }: RunRange): KeyRange {
  return { from: froms[first] ?? '', to: froms[end] }
}

async function makeRange(
  workspace: Workspace,
  parts: readonly string[],
  range: KeyRange,
): Promise<readonly Run[]> {
  const runs: Run[] = []
  const { entries, maker } = workspace
  for await (const run of splitRuns(range.from, entries(range), maker.bytesOf)) {
    runs.push(await makeRun(workspace, parts, run))
  }
  return runs
}

async function makeRun(
  workspace: Workspace,
  parts: readonly string[],
  { from, entries }: RunOfEntries<IndexEntry & Keyed>,
): Promise<Run> {
  const { maker, subject } = workspace
  const context: RenderContext = { subject, parts }
  const pieces = new Map<string, Piece>()
  for (const [name, rendered] of await maker.render(entries, context)) {
    if (rendered.content.byteLength === 0) continue
    pieces.set(name, await makePiece(workspace, wantedForms(workspace, name), rendered))
  }
  return { from, parts: [...new Set(entries.map(({ part }) => part))].sort(), pieces }
}

/** Returns the forms of a text that the index maker needs and that are available. */
export function wantedForms(
  { maker, compressXz }: Pick<Workspace, 'maker' | 'compressXz'>,
  name: string,
): readonly TextForm[] {
  return maker.formsOf(name).filter((form) => form !== 'xz' || compressXz !== undefined)
}

async function makePiece(
  { scratch, compressXz }: Workspace,
  forms: readonly TextForm[],
  { content, count }: Rendered,
): Promise<Piece> {
  const xz = forms.includes('xz') && compressXz ? splitXz(await compressXz(content)) : undefined
  const packed: ReadonlyArray<readonly [TextForm, Uint8Array | undefined]> = [
    ['plain', content],
    ['deflated', forms.includes('deflated') ? await deflatePart(content) : undefined],
    ['xz', xz?.block],
  ]
  const spans: Partial<Record<TextForm, Span>> = {}
  for (const [form, bytes] of packed) {
    if (bytes === undefined || !forms.includes(form)) continue
    const start = await scratch.append(bytes)
    spans[form] = { id: idOf(bytes), blobKey: undefined, start, bytes: bytes.byteLength }
  }
  const sums = { bytes: content.byteLength, crc32: crc32(content), count }
  return { ...sums, spans, unpaddedBytes: xz?.unpaddedBytes }
}

const ID_BYTES = 16

function idOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest().toString('base64url', 0, ID_BYTES)
}

/** Returns the texts of all runs by their names, in order. */
export function joinTexts({ runs }: Runs): ReadonlyMap<string, IndexText> {
  const names = [...new Set(runs.flatMap(({ pieces }) => [...pieces.keys()]))].sort()
  return new Map(
    names.map((name) => {
      const pieces = runs.flatMap((run) => run.pieces.get(name) ?? [])
      return [name, joinPieces(name, pieces)]
    }),
  )
}

function joinPieces(name: string, pieces: readonly Piece[]): IndexText {
  const forms: Partial<Record<TextForm, PlacedText>> = {}
  for (const form of Object.keys(pieces[0]?.spans ?? {}) as TextForm[]) {
    const spans = pieces.map((piece) => {
      const span = piece.spans[form]
      if (span === undefined) throw new Error(`a piece of ${name} has no form ${form}`)
      return span
    })
    forms[form] = { name, form, spans }
  }
  let text = { bytes: 0, crc32: 0, count: 0 }
  for (const piece of pieces) {
    text = {
      bytes: text.bytes + piece.bytes,
      crc32: appendCrc32(text.crc32, piece.crc32, piece.bytes),
      count: text.count + piece.count,
    }
  }
  const xzBlocks = pieces.flatMap(({ bytes, unpaddedBytes }) =>
    unpaddedBytes === undefined ? [] : [{ bytes, unpaddedBytes }],
  )
  return { ...text, forms, xzBlocks }
}
