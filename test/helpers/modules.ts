/** Go modules as zips, laid out as a module proxy serves them, and their checksums. */

import { createHash } from 'node:crypto'
import { zipOf } from './zips.js'

/** What a module holds, by path: a go.mod that says its name where none is given. */
export function moduleFiles(
  name: string,
  files: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [path] = name.split('@', 1)
  const all = { 'go.mod': `module ${path}\n`, ...files }
  return Object.fromEntries(Object.entries(all).map(([file, text]) => [`${name}/${file}`, text]))
}

/** The zip of `path@version`. */
export async function moduleZip(
  name: string,
  files: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  return await zipOf(moduleFiles(name, files))
}

/** The checksum `h1:` of these files, as go.sum has it (go.dev/ref/mod#go-sum-files). */
export function moduleSum(files: Readonly<Record<string, string>>): string {
  const sha256 = (text: string) => createHash('sha256').update(text)
  const lines = Object.entries(files)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => `${sha256(text).digest('hex')}  ${path}\n`)
  return `h1:${sha256(lines.join('')).digest('base64')}`
}
