/** The README of a package, which the page of its version shows. */

import type { Zip } from './archive/zip.js'

/** Maximum size of a README; a larger one is not stored. */
export const README_BYTES_MAX = 131_072

/** True if a file in the root of a package is its README in Markdown. */
export function isReadme(name: string): boolean {
  return /^readme\.(?:md|markdown)$/i.test(name)
}

/** Returns the text of a README; undefined if it is empty, too large or not text. */
export function readmeText(bytes: Uint8Array): string | undefined {
  if (bytes.byteLength > README_BYTES_MAX) return undefined
  const text = new TextDecoder().decode(bytes)
  return text.trim() === '' || text.includes('\0') ? undefined : text
}

/** Returns the README in a folder, whose path ends with a slash unless it is empty. */
export async function readReadme(zip: Zip, folder: string): Promise<string | undefined> {
  const entry = zip.entries.find(
    ({ path, kind, bytes }) =>
      kind === 'file' &&
      bytes <= README_BYTES_MAX &&
      path.startsWith(folder) &&
      isReadme(path.slice(folder.length)),
  )
  return entry && readmeText(await zip.read(entry, README_BYTES_MAX))
}
