/** The Sources file of a component ("Sources" of the repository format). */

import type { Digests, JsonObject } from '../../conf/package.js'
import type { IndexEntry } from '../index-maker.js'
import type { ControlField } from './control.js'
import type { SourceControl } from './source-control.js'

/** File of a source package, as the metadata of an index entry stores it. */
export interface SourceFile {
  readonly name: string
  readonly bytes: number
  readonly digests: Digests
}

interface SourceMetadata {
  readonly fields: readonly ControlField[]
  readonly files: readonly SourceFile[]
}

/** Returns the metadata of the index entry of a .dsc file. */
export function sourceMetadata(
  { fields }: SourceControl,
  files: readonly SourceFile[],
): JsonObject {
  const stored = files.map(({ name, bytes, digests }) => ({ name, bytes, digests: { ...digests } }))
  return { fields, files: stored }
}

/** Returns the fields of the paragraph of a source package. */
export function sourceFields(
  { packageName, metadata, file: dsc }: IndexEntry,
  directory: string,
): readonly ControlField[] {
  const { fields, files } = metadata as unknown as SourceMetadata
  const all = [dsc, ...files]
  const listed = LISTS.map(([name, digest]): ControlField => {
    const lines = all.map((file) => `\n ${file.digests[digest]} ${file.bytes} ${file.name}`)
    return [name, lines.join('')]
  })
  return [['Package', packageName], ...fields, ['Directory', directory], ...listed]
}

const LISTS: ReadonlyArray<readonly [name: string, digest: keyof Digests]> = [
  ['Files', 'md5'],
  ['Checksums-Sha1', 'sha1'],
  ['Checksums-Sha256', 'sha256'],
  ['Checksums-Sha512', 'sha512'],
]
