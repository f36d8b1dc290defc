/** Composer packages for tests: archives of a composer.json and a few files. */

import { gzipSync } from 'node:zlib'
import { tarOf } from './tar-bytes.js'
import { handMadeZip } from './zips.js'

export interface PackageOptions {
  /** What is in it besides; by default one file of PHP. */
  readonly files?: Readonly<Record<string, string>>
  /** The folder that everything is in, with a slash at its end. */
  readonly folder?: string
}

type Fields = Readonly<Record<string, unknown>> | string

/** A zip, always of the same bytes; a text for `fields` is taken as it stands. */
export function packageZip(fields: Fields, options: PackageOptions = {}): Buffer {
  const entries = Object.entries(filesOf(fields, options))
  return handMadeZip(entries.map(([path, content]) => ({ path, content })))
}

/** The same as a tar.gz. */
export function packageTarGz(fields: Fields, options: PackageOptions = {}): Buffer {
  return gzipSync(packageTar(fields, options))
}

/** The same, not compressed. */
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
