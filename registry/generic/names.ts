/** Names of generic packages, their versions and their files. */

import { Failure } from '../../conf/failures.js'

const CHARACTERS = /^[A-Za-z0-9.+_-]+$/
const ADVICE = "letters, digits, '.', '-', '+' and '_'"

/** Returns a package name. Throws `bad_request` if it is invalid. */
export function parsePackageName(text: string): string {
  // '..' and a single punctuation mark are refused.
  if (CHARACTERS.test(text) && text !== '..' && /^.{2}|[A-Za-z0-9]/.test(text)) return text
  throw new Failure('bad_request', `invalid package name: it holds ${ADVICE} only`)
}

/** Returns a file name. Throws `bad_request` if it is invalid. */
export function parseFileName(text: string): string {
  if (CHARACTERS.test(text) && text !== '.' && text !== '..') return text
  throw new Failure('bad_request', `invalid filename: it holds ${ADVICE} only`)
}

/** Returns a version. Throws `bad_request` if it is invalid. */
export function parseVersion(text: string): string {
  if (text !== '' && text.trim() === text && !/\p{Cc}|\p{Cs}/u.test(text)) return text
  const why = 'it is empty, or holds control characters or white space around it'
  throw new Failure('bad_request', `invalid package version: ${why}`)
}
