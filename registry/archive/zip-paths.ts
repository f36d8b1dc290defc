/** What the entries of a zip may be called, so that every reader sees the same tree of files. */

import { Failure } from '../../conf/failures.js'
import { findExtra, UNICODE_PATH_EXTRA } from './zip-extra.js'

/**
 * The path that the bytes of a name are; a folder's ends with a slash. Throws `bad_request` when
 * it leads out of the archive, or when some systems would read it as another one.
 */
export function readZipPath(name: Buffer, extra: Buffer): string {
  let path: string
  try {
    path = UTF8.decode(name)
  } catch (cause) {
    throw new Failure('bad_request', 'The name of an entry of the zip is not UTF-8.', { cause })
  }
  const fault = faultOf(path)
  if (fault !== undefined) {
    throw new Failure('bad_request', `The zip has an entry ${quote(path)}: ${fault}.`)
  }
  const other = findExtra(extra, UNICODE_PATH_EXTRA)
  // After a version and a checksum.
  if (other !== undefined && !other.subarray(5).equals(name)) {
    throw new Failure('bad_request', `The zip has two names for the entry ${quote(path)}.`)
  }
  return path
}

/**
 * Throws `bad_request` when two entries have one path, or when one is a file where another one
 * needs a folder.
 */
export function checkTree(paths: readonly string[]): void {
  const sorted = paths.map(treeKey).sort()
  for (const [at, path] of sorted.entries()) {
    const next = sorted[at + 1]
    if (next === path || next?.startsWith(`${path}\0`)) {
      const name = quote(path.replaceAll('\0', '/'))
      throw new Failure('bad_request', `The zip has several entries for ${name}.`)
    }
  }
}

/**
 * By which paths sort so that what is in a folder follows it at once: with the smallest character
 * for a slash.
 */
export function treeKey(path: string): string {
  // A twentieth of the cost of `replaceAll`, where there are millions of slashes.
  return path.split('/').join('\0')
}

/** In quotes, as a message shows it: on one line, and not too long. */
export function quote(path: string): string {
  const shown = path.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')
  return `"${shown.length > 200 ? `${shown.slice(0, 200)}…` : shown}"`
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Bytes are at most three times as many. */
const PATH_CHARACTERS_MAX = 1_024

function faultOf(path: string): string | undefined {
  if (path.length > PATH_CHARACTERS_MAX)
    return `its path has more than ${PATH_CHARACTERS_MAX} characters`
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(path)) return 'its path has control characters'
  if (path.includes('\\')) return 'its path has a backslash'
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'its path is absolute'
  const segments = (path.endsWith('/') ? path.slice(0, -1) : path).split('/')
  if (segments.includes('..')) return 'its path leads out of the zip'
  if (segments.includes('.') || segments.includes('')) return 'its path has an empty part'
  return undefined
}
