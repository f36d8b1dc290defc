/** Reproducible R packages for tests: archives of a DESCRIPTION and a few files. */

import { gzipSync } from 'node:zlib'
import { tarOf } from './tar-bytes.js'
import { handMadeZip } from './zips.js'

export interface RPackageOptions {
  /** Further files of the folder, by path. */
  readonly files?: Readonly<Record<string, string>>
  /** Folder in the archive; by default the name of the package. */
  readonly folder?: string
}

type Fields = Readonly<Record<string, string>>

/** Returns a DESCRIPTION with exactly these fields. */
export function descriptionOf(fields: Fields): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`)
  return lines.join('')
}

/** Returns a package as `.tar.gz`; a string for `fields` is the whole DESCRIPTION. */
export function rTarGz(fields: Fields | string, options: RPackageOptions = {}): Buffer {
  const pieces = filesOf(fields, options).map(([path, body]) => ({ path, body }))
  return gzipSync(tarOf(pieces))
}

/** Returns a package as `.zip`. */
export function rZip(fields: Fields | string, options: RPackageOptions = {}): Buffer {
  const entries = filesOf(fields, options).map(([path, content]) => ({ path, content }))
  return handMadeZip(entries)
}

function filesOf(fields: Fields | string, { files = {}, folder }: RPackageOptions) {
  const text = typeof fields === 'string' ? fields : descriptionOf(fields)
  const own = typeof fields === 'string' ? 'toy' : (fields['Package'] ?? 'toy')
  const all = { DESCRIPTION: text, NAMESPACE: '', ...files }
  return Object.entries(all).map(([path, body]) => [`${folder ?? own}/${path}`, body] as const)
}
