/** Names of generic packages, their versions and their files. */

import { Failure } from '../../conf/failures.js'
import { quote } from '../archive/zip-paths.js'

const CHARACTERS = /^[A-Za-z0-9.+_-]+$/
const RULE = "must consist of letters, digits, '.', '-', '+' and '_'"

/** Returns a package name. Throws `bad_request` if it is invalid. */
export function parsePackageName(text: string): string {
  // '..' and a single punctuation mark are refused.
  if (CHARACTERS.test(text) && text !== '..' && /^.{2}|[A-Za-z0-9]/.test(text)) return text
  const exception = "and not be '..' or a single punctuation mark"
  const rule = `${quote(text)} ${RULE}, ${exception}`
  throw new Failure('bad_request', `invalid package name: ${rule}`)
}

/** Returns a file name. Throws `bad_request` if it is invalid. */
export function parseFileName(text: string): string {
  if (CHARACTERS.test(text) && text !== '.' && text !== '..') return text
  const rule = `${quote(text)} ${RULE}, and not be '.' or '..'`
  throw new Failure('bad_request', `invalid filename: ${rule}`)
}

/** A segment that clients and proxies remove from URLs (WHATWG URL, "double-dot path segment"). */
const DOT_SEGMENT = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\]|$)/i

/** Returns a version. Throws `bad_request` if it is invalid. */
export function parseVersion(text: string): string {
  if (DOT_SEGMENT.test(text)) {
    const rule =
      "must have no segment '.' or '..', also encoded, because clients remove it from URLs"
    throw new Failure('bad_request', `invalid package version: ${quote(text)} ${rule}`)
  }
  if (text !== '' && text.trim() === text && !/\p{Cc}|\p{Cs}/u.test(text)) return text
  const rule = 'must not be empty, have control characters, or begin or end with white space'
  throw new Failure('bad_request', `invalid package version: ${quote(text)} ${rule}`)
}
