/** Where the pieces of an index are in its files: kept beside these, for the next generation. */

import type { Span, TextForm } from '../index-maker.js'
import type { Piece, Run, Runs } from './texts.js'

/** The name under which it stands among the files; no client can ask for it. */
export const LAYOUT_PATH = '.layout'

/** Where the first piece of a text is; the others follow it. */
export interface Place {
  readonly path: string
  readonly start: number
}

/** By the name of the text, and its form. */
export type Places = ReadonlyMap<string, Readonly<Partial<Record<TextForm, Place>>>>

/** To be raised with any change of what is below. */
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

/** The layout as the text of a file. `revision` is that of the maker. */
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

export interface ReadOptions {
  readonly revision: number
  /** The forms that each text must be there in. */
  readonly formsOf: (name: string) => readonly TextForm[]
  /** The blob that a file is, by its path. */
  readonly blobKeyOf: (path: string) => string | undefined
}

/** What was written. Undefined: it is of no use to the maker as it is now. */
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
  /** The next so many bytes. */
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
