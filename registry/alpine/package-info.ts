/** The metadata of a package: its `.PKGINFO` (apk-v2(5), "THE CONTROL SECTION"). */

import { Failure } from '../../conf/failures.js'
import { quote } from '../archive/zip-paths.js'
import { type PackageId, parseArchitecture, parsePackageName, parseVersion } from './names.js'

export interface PackageInfo extends PackageId {
  readonly architecture: string
  /** Values of the index record by the letters of its lines; see `index-record`. */
  readonly fields: Readonly<Record<string, string>>
  /** SHA-256 of the data section, in hexadecimal. */
  readonly dataHash: string | undefined
}

/** Index letters of the keys with one text value. */
const LETTER_OF_TEXT = {
  ...({ pkgdesc: 'T', url: 'U', license: 'L', origin: 'o', maintainer: 'm', commit: 'c' } as const),
}
/** Index letters of the keys with one numeric value. */
const LETTER_OF_NUMBER = { size: 'I', builddate: 't', provider_priority: 'k' } as const

/** Index letters of the keys that may be repeated. */
const LETTER_OF_LIST = { depend: 'D', provides: 'p', install_if: 'i', replaces: 'r' } as const

const OTHER_SINGLES = ['pkgname', 'pkgver', 'arch', 'packager', 'datahash', 'replaces_priority']
const SINGLES: ReadonlySet<string> = new Set([
  ...Object.keys(LETTER_OF_TEXT),
  ...Object.keys(LETTER_OF_NUMBER),
  ...OTHER_SINGLES,
])

/** Parses a `.PKGINFO`. Throws `bad_request` for the first error. */
export function parsePackageInfo(bytes: Uint8Array): PackageInfo {
  const values = readValues(decode(bytes))
  const one = (key: string) => values.get(key)?.[0] ?? ''
  const packageName = parsePackageName(one('pkgname'))
  const version = parseVersion(one('pkgver'))
  const architecture = parseArchitecture(one('arch'))
  const texts = pick(LETTER_OF_TEXT, (key) => (key === 'url' ? webAddress(one(key)) : one(key)))
  const counted = [packageName, version, architecture, ...Object.values(texts)]
  if (Buffer.byteLength(counted.join('')) > TEXT_BYTES_MAX) {
    const keys = ['pkgname', 'pkgver', 'arch', ...Object.keys(LETTER_OF_TEXT)].join(', ')
    const limit = `exceed ${TEXT_BYTES_MAX} bytes together`
    throw new Failure('bad_request', `The values of ${keys} in .PKGINFO ${limit}.`)
  }
  const numbers = pick(LETTER_OF_NUMBER, (key) => wholeNumber(key, one(key)))
  const lists = pick(LETTER_OF_LIST, (key) => joined(key, values.get(key) ?? []))
  checkCount(Object.values(lists))
  const fields = { ...texts, ...numbers, ...lists }
  return { packageName, version, architecture, fields, dataHash: dataHash(one('datahash')) }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Failure('bad_request', '.PKGINFO is not valid UTF-8.', { cause })
  }
}

/**
 * Reads lines of the form `key = value`. Lines without an equals sign are ignored, as apk does, and
 * a comment with one is a key that is never read. Control characters are refused, because values
 * become lines of the index.
 */
function readValues(text: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(line)) {
      throw new Failure('bad_request', `.PKGINFO has a control character in ${quote(line)}.`)
    }
    const at = line.indexOf('=')
    if (at === -1) continue
    const key = line.slice(0, at).trim()
    const value = line.slice(at + 1).trim()
    const known = values.get(key)
    if (known !== undefined && SINGLES.has(key)) {
      throw new Failure('bad_request', `.PKGINFO has several values for ${key}.`)
    }
    if (known === undefined) values.set(key, [value])
    else known.push(value)
  }
  return values
}

/** Returns the values that are not empty, by their letters. */
function pick<Key extends string>(
  letterOf: Readonly<Record<Key, string>>,
  textOf: (key: Key) => string,
): Record<string, string> {
  const keys = Object.keys(letterOf) as Key[]
  const all = keys.map((key) => [letterOf[key], textOf(key)] as const)
  return Object.fromEntries(all.filter(([, value]) => value !== ''))
}

/**
 * Maximum size of the texts together. To install a package, apk writes them and some numbers into
 * a buffer of 2,048 bytes, and fails if they do not fit.
 */
const TEXT_BYTES_MAX = 1_900

/** Returns an HTTP URL; empty for any other text, because clients show it as a link. */
function webAddress(text: string): string {
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : ''
}

/** Returns a number without leading zeros; empty for 0, which is the default of the index. */
function wholeNumber(key: string, text: string): string {
  if (text === '') return ''
  if (!/^[0-9]{1,15}$/.test(text)) {
    const rule = 'must be a whole number of at most 15 digits'
    throw new Failure('bad_request', `The ${key} ${quote(text)} in .PKGINFO ${rule}.`)
  }
  return String(Number(text) || '')
}

/** Maximum number of dependencies, provides, install_if and replaces together. */
const LISTED_MAX = 1_024
/** Maximum size of one of them; apk has a buffer of 256 bytes for each. */
const LISTED_BYTES_MAX = 255
/** Maximum size of a line of the index; apk reads lines of up to 128 KiB. */
const LINE_BYTES_MAX = 65_536

/** Returns the values of a key as one line; a value may itself be a list, separated by spaces. */
function joined(key: string, values: readonly string[]): string {
  const line = values.join(' ').replaceAll(/ +/g, ' ').trim()
  const long = line.split(' ').find((one) => Buffer.byteLength(one) > LISTED_BYTES_MAX)
  if (long !== undefined) {
    const limit = `is longer than ${LISTED_BYTES_MAX} bytes`
    throw new Failure('bad_request', `The ${key} ${quote(long)} in .PKGINFO ${limit}.`)
  }
  if (Buffer.byteLength(line) > LINE_BYTES_MAX) {
    const limit = `exceed ${LINE_BYTES_MAX} bytes together`
    throw new Failure('bad_request', `The values of ${key} in .PKGINFO ${limit}.`)
  }
  return line
}

function checkCount(lines: readonly string[]): void {
  const count = lines.reduce((sum, line) => sum + line.split(' ').length, 0)
  if (count <= LISTED_MAX) return
  const keys = Object.keys(LETTER_OF_LIST).join(', ')
  throw new Failure('bad_request', `.PKGINFO has more than ${LISTED_MAX} values of ${keys}.`)
}

function dataHash(text: string): string | undefined {
  if (text === '') return undefined
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase()
  const rule = 'is not a SHA-256 digest in hexadecimal'
  throw new Failure('bad_request', `The datahash ${quote(text)} in .PKGINFO ${rule}.`)
}
