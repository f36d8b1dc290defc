/** The paragraphs and paths of the packages of one component and architecture. */

import type { JsonObject, PackageFile } from '../../conf/package.js'
import type { IndexEntry, Rendered } from '../index-maker.js'
import { rendered } from '../indexing/rendered.js'
import { type Contents, contentsLines } from './contents.js'
import type { Control, ControlField } from './control.js'
import { sourceFields } from './sources-index.js'

/** Metadata of an index entry. */
interface EntryMetadata {
  readonly fields: readonly ControlField[]
  readonly contents?: Contents | undefined
}

/** Returns the metadata of an index entry. */
export function entryMetadata({ fields }: Control, contents?: Contents): JsonObject {
  return contents === undefined ? { fields } : { fields, contents }
}

function metadataOf({ metadata }: IndexEntry): EntryMetadata {
  return metadata as unknown as EntryMetadata
}

/** Distribution and component of a package. */
export interface Place {
  readonly distribution: string
  readonly component: string
}

/** Architecture in the part of source packages; packages cannot have it. */
export const SOURCE = 'source'

/** Returns the paragraph of one package (deb822(5), "Packages" of the repository format). */
export function stanzaOf(entry: IndexEntry, place: Place): string {
  const fields = entry.part.endsWith(`/${SOURCE}`)
    ? sourceFields(entry, directoryOf(place))
    : [...metadataOf(entry).fields, ...fileFields(entry.file, place)]
  return fields.map(lineOf).join('')
}

function directoryOf({ distribution, component }: Place): string {
  return `pool/${distribution}/${component}`
}

/** Formats a field. If its first line is empty, no white space follows the colon. */
function lineOf([name, value]: ControlField): string {
  return value === '' || value.startsWith('\n') ? `${name}:${value}\n` : `${name}: ${value}\n`
}

function fileFields(file: PackageFile, place: Place): ControlField[] {
  const { name, bytes, digests } = file
  return [
    ['Filename', `${directoryOf(place)}/${name}`],
    ['Size', String(bytes)],
    ['MD5sum', digests.md5],
    ['SHA1', digests.sha1],
    ['SHA256', digests.sha256],
    ['SHA512', digests.sha512],
  ]
}

/** Renders the paragraphs of each part, each followed by a blank line. */
export function renderPackages(
  entries: readonly IndexEntry[],
  distribution: string,
): ReadonlyMap<string, Rendered> {
  const texts = new Map<string, string[]>()
  for (const entry of entries) {
    const [component = ''] = entry.part.split('/')
    const stanzas = texts.get(entry.part) ?? []
    stanzas.push(`${stanzaOf(entry, { distribution, component })}\n`)
    texts.set(entry.part, stanzas)
  }
  return new Map([...texts].map(([part, stanzas]) => [part, rendered(stanzas)]))
}

/** Renders the paths that the packages of each part install, under the name `PART/Contents`. */
export async function renderContents(
  entries: readonly IndexEntry[],
): Promise<ReadonlyMap<string, Rendered>> {
  const texts = new Map<string, Buffer[]>()
  for (const entry of entries) {
    const { contents } = metadataOf(entry)
    if (contents === undefined) continue
    const name = `${entry.part}/Contents`
    const lines = texts.get(name) ?? []
    lines.push(await contentsLines(contents))
    texts.set(name, lines)
  }
  return new Map(
    [...texts].map(([name, all]) => [name, { content: Buffer.concat(all), count: all.length }]),
  )
}

/** Returns the size of the paths of a package. */
export function contentsBytes(entry: IndexEntry): number {
  return metadataOf(entry).contents?.bytes ?? 0
}
