/** The layout file of a generation: positions of all pieces, for reuse by the next generation. */

import type { Span, TextForm } from '../index-maker.js'
import type { Piece, Run, Runs } from './texts.js'

/** Path of the layout among the files of a generation; no route serves it. */
export const LAYOUT_PATH = '.layout'

/** Position of the first piece of a text; the others follow it. */
export interface Place {
  readonly path: string
  readonly start: number
}

/** Positions by the name of the text and its form. */
export type Places = ReadonlyMap<string, Readonly<Partial<Record<TextForm, Place>>>>

/** Version of the file format; increment it with any change of the types below. */
const VERSION = 1

interface Written {
  readonly version: number
  readonly revision: number
  readonly parts: readonly string[]
  readonly runs: ReadonlyArray<{
    readonly from: string
    readonly parts: readonly string[]
    readonly pieces: ReadonlyArray<readonly [name: string, piece: WrittenPiece]>
  }>
  readonly places: ReadonlyArray<readonly [string, Partial<Record<TextForm, Place>>]>
}

interface WrittenPiece extends Omit<Piece, 'spans'> {
  readonly forms: Partial<Record<TextForm, Pick<Span, 'id' | 'bytes'>>>
}

/** Serializes a layout. `revision` is that of the index maker. */
export function writeLayout({ parts, runs }: Runs, places: Places, revision: number): string {
  const written: Written = {
    version: VERSION,
    revision,
    parts,
    runs: runs.map(({ from, parts, pieces }) => ({
      from,
      parts,
      pieces: [...pieces].map(([name, { spans, ...rest }]) => {
        return [name, { ...rest, forms: mapValues(spans, ({ id, bytes }) => ({ id, bytes })) }]
      }),
    })),
    places: [...places],
  }
  return JSON.stringify(written)
}

/** Returns the revision of the index maker; undefined if another version has written the layout. */
export function layoutRevision(text: string): number | undefined {
  const { version, revision }: Written = JSON.parse(text)
  return version === VERSION ? revision : undefined
}

export interface ReadOptions {
  readonly revision: number
  /** Returns the forms in which a text is required. */
  readonly formsOf: (name: string) => readonly TextForm[]
  /** Returns the blob key of a file. */
  readonly blobKeyOf: (path: string) => string | undefined
}

/**
 * Parses a layout. Returns undefined if its version or revision is outdated, or if a text is
 * missing in a required form.
 */
export function readLayout(text: string, options: ReadOptions): Runs | undefined {
  const { version, revision, parts, runs, places }: Written = JSON.parse(text)
  if (version !== VERSION || revision !== options.revision) return undefined
  const cursors = openCursors(new Map(places), options)
  if (cursors === undefined) return undefined
  const read: Run[] = runs.map(({ from, parts, pieces }) => ({
    from,
    parts,
    pieces: new Map(
      pieces.map(([name, { forms, ...rest }]) => {
        const spans = mapValues(cursors.get(name) ?? {}, (cursor, form) =>
          cursor.take(forms[form] ?? NOTHING),
        )
        return [name, { ...rest, spans }]
      }),
    ),
  }))
  return { parts, runs: read }
}

const NOTHING = { id: '', bytes: 0 }

interface Cursor {
  /** Returns the span of the next piece and advances by its size. */
  take(piece: Pick<Span, 'id' | 'bytes'>): Span
}

type Cursors = ReadonlyMap<string, Partial<Record<TextForm, Cursor>>>

function openCursors(places: Places, { formsOf, blobKeyOf }: ReadOptions): Cursors | undefined {
  const all = new Map<string, Partial<Record<TextForm, Cursor>>>()
  for (const [name, forms] of places) {
    const cursors: Partial<Record<TextForm, Cursor>> = {}
    for (const form of formsOf(name)) {
      const place = forms[form]
      const blobKey = place && blobKeyOf(place.path)
      if (place === undefined || blobKey === undefined) return undefined
      cursors[form] = cursorAt(blobKey, place.start)
    }
    all.set(name, cursors)
  }
  return all
}

function cursorAt(blobKey: string, first: number): Cursor {
  let start = first
  return {
    take({ id, bytes }) {
      const span = { id, blobKey, start, bytes }
      start += bytes
      return span
    },
  }
}

function mapValues<From, To>(
  values: Readonly<Partial<Record<TextForm, From>>>,
  map: (value: From, form: TextForm) => To,
): Partial<Record<TextForm, To>> {
  const mapped: Partial<Record<TextForm, To>> = {}
  for (const [form, value] of Object.entries(values)) {
    mapped[form as TextForm] = map(value, form as TextForm)
  }
  return mapped
}
