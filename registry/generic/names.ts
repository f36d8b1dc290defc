/** What generic packages, their versions and their files may be called: parse or throw. */

import { Failure } from '../../conf/failures.js'

const CHARACTERS = /^[A-Za-z0-9.+_-]+$/
const ADVICE = "letters, digits, '.', '-', '+' and '_'"

/** The name of a package. Throws `bad_request`. */
export function parsePackageName(text: string): string {
  // A name of dots, or of one sign alone, is nobody's.
  if (CHARACTERS.test(text) && text !== '..' && /^.{2}|[A-Za-z0-9]/.test(text)) return text
  throw new Failure('bad_request', `invalid package name: it holds ${ADVICE} only`)
}

/** The name of a file. Throws `bad_request`. */
export function parseFileName(text: string): string {
  if (CHARACTERS.test(text) && text !== '.' && text !== '..') return text
  throw new Failure('bad_request', `invalid filename: it holds ${ADVICE} only`)
}

/** A version: any text without white space around it. Throws `bad_request`. */
export function parseVersion(text: string): string {
  if (text !== '' && text.trim() === text && !/\p{Cc}|\p{Cs}/u.test(text)) return text
  const why = 'it is empty, or holds control characters or white space around it'
  throw new Failure('bad_request', `invalid package version: ${why}`)
}
