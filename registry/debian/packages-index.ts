/** The list of the packages of one component and architecture, as apt reads it. */

import type { JsonObject, PackageFile } from '../../conf/package.js'
import type { IndexEntry } from '../format.js'
import type { Control, ControlField } from './control.js'

/** What the index is given of a package, and keeps. */
export function entryMetadata({ fields }: Control): JsonObject {
  return { fields }
}

/** Where in a repository a package is. */
export interface Place {
  readonly distribution: string
  readonly component: string
}

/** The paragraph of one package (deb822(5), "Packages" of the repository format). */
export function stanzaOf({ metadata, file }: IndexEntry, place: Place): string {
  const fields = [...(metadata['fields'] as unknown as ControlField[]), ...fileFields(file, place)]
  return fields.map(lineOf).join('')
}

/** A value whose first line is empty stands below its name, without white space at a line's end. */
function lineOf([name, value]: ControlField): string {
  return value === '' || value.startsWith('\n') ? `${name}:${value}\n` : `${name}: ${value}\n`
}

function fileFields(file: PackageFile, { distribution, component }: Place): ControlField[] {
  const { name, bytes, digests } = file
  return [
    ['Filename', `pool/${distribution}/${component}/${name}`],
    ['Size', String(bytes)],
    ['MD5sum', digests.md5],
    ['SHA1', digests.sha1],
    ['SHA256', digests.sha256],
    ['SHA512', digests.sha512],
  ]
}

const CHUNK_CHARACTERS = 65_536

/** The paragraphs of all of them, with a blank line after each. */
export async function* packagesText(
  entries: AsyncIterable<IndexEntry>,
  place: Place,
): AsyncGenerator<Buffer, void, undefined> {
  let text = ''
  for await (const entry of entries) {
    text += `${stanzaOf(entry, place)}\n`
    if (text.length < CHUNK_CHARACTERS) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}
