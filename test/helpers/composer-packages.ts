/** Composer packages for tests: archives of a composer.json and a few files. */

import { gzipSync } from 'node:zlib'
import { tarOf } from './tar-bytes.js'
import { handMadeZip } from './zips.js'

export interface PackageOptions {
  /** Files besides composer.json; by default one PHP file. */
  readonly files?: Readonly<Record<string, string>>
  /** Folder that contains all files, with a trailing slash. */
  readonly folder?: string
}

type Fields = Readonly<Record<string, unknown>> | string

/** Returns a reproducible zip; a string for `fields` is the whole text of composer.json. */
export function packageZip(fields: Fields, options: PackageOptions = {}): Buffer {
  const entries = Object.entries(filesOf(fields, options))
  return handMadeZip(entries.map(([path, content]) => ({ path, content })))
}

/** Returns the package as a tar.gz. */
export function packageTarGz(fields: Fields, options: PackageOptions = {}): Buffer {
  return gzipSync(packageTar(fields, options))
}

/** Returns the package as an uncompressed tar. */
export function packageTar(fields: Fields, options: PackageOptions = {}): Buffer {
  const entries = Object.entries(filesOf(fields, options))
  return tarOf(entries.map(([path, body]) => ({ path, body })))
}

function filesOf(fields: Fields, { files, folder = '' }: PackageOptions): Record<string, string> {
  const text = typeof fields === 'string' ? fields : JSON.stringify(fields)
  const all = { 'composer.json': text, ...(files ?? { 'src/Hello.php': '<?php\n' }) }
  return Object.fromEntries(
    Object.entries(all).map(([path, content]) => [`${folder}${path}`, content]),
  )
}
