/** Go modules as zips in the layout of a module proxy, and their checksums. */

import { createHash } from 'node:crypto'
import { zipOf } from './zips.js'

/** Returns a module's files by path; a go.mod with its name is added if `files` has none. */
export function moduleFiles(
  name: string,
  files: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [path] = name.split('@', 1)
  const all = { 'go.mod': `module ${path}\n`, ...files }
  return Object.fromEntries(Object.entries(all).map(([file, text]) => [`${name}/${file}`, text]))
}

/** Returns the zip of `path@version`. */
export async function moduleZip(
  name: string,
  files: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  return await zipOf(moduleFiles(name, files))
}

/** Computes the checksum `h1:` of these files, as in go.sum (go.dev/ref/mod#go-sum-files). */
export function moduleSum(files: Readonly<Record<string, string>>): string {
  const sha256 = (text: string) => createHash('sha256').update(text)
  const lines = Object.entries(files)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => `${sha256(text).digest('hex')}  ${path}\n`)
  return `h1:${sha256(lines.join('')).digest('base64')}`
}
