/** Metadata of a release: the publisher's JSON, checked and converted to the client's schema. */

import { Failure } from '../../conf/failures.js'
import { hasManyValues, JSON_VALUES_MAX } from '../../conf/lib/json-values.js'
import type { Json, JsonObject } from '../../conf/package.js'
import { normaliseRepositoryUrl } from './repository-url.js'

const REPOSITORIES_MAX = 32
const URL_CHARACTERS_MAX = 500

/**
 * Parses the metadata of a release (Appendix B), and the schema.org fields that other registries
 * accept; unknown fields are dropped. Throws `invalid` if the text is not JSON or does not match
 * the schema, because the client could not read such a release.
 */
export function parseMetadata(text: string, transferEncoding: string): JsonObject {
  if (text.trim() === '') return {}
  const given = parseJson(text, transferEncoding)
  if (!isObject(given)) throw invalid('it is not a JSON object')
  return compact({
    author: authorOf(objectAt(given, 'author')),
    codeRepository: textAt(given, 'codeRepository'),
    description: textAt(given, 'description'),
    keywords: textsAt(given, 'keywords'),
    license: textAt(given, 'license'),
    licenseURL: textAt(given, 'licenseURL'),
    originalPublicationTime: timeAt(given, 'originalPublicationTime'),
    readmeURL: textAt(given, 'readmeURL'),
    repositoryURLs: repositoriesOf(given),
  })
}

/** Returns the distinct normalized repository URLs of the metadata. */
export function repositoriesIn(metadata: JsonObject): readonly string[] {
  return [...new Set((textsAt(metadata, 'repositoryURLs') ?? []).map(normaliseRepositoryUrl))]
}

function invalid(what: string): Failure {
  return new Failure('invalid', `invalid JSON provided for release metadata: ${what}`)
}

/**
 * Parses JSON. Swift's client declares quoted-printable but sends the text unencoded, so the text
 * is decoded only if it does not parse otherwise.
 */
function parseJson(text: string, transferEncoding: string): unknown {
  try {
    return parseBounded(text)
  } catch (cause) {
    if (transferEncoding !== 'quoted-printable') throw invalid(DOES_NOT_PARSE)
    try {
      return parseBounded(decodeQuotedPrintable(text))
    } catch {
      throw new Failure('invalid', invalid(DOES_NOT_PARSE).message, { cause })
    }
  }
}

const DOES_NOT_PARSE = `it does not parse, or has more than ${JSON_VALUES_MAX} values`

/** Parses JSON. Throws an Error for a number of values that takes too long to parse. */
function parseBounded(text: string): unknown {
  if (hasManyValues(text, JSON_VALUES_MAX)) throw new Error(`more than ${JSON_VALUES_MAX} values`)
  return JSON.parse(text)
}

/** Decodes quoted-printable text (RFC 2045 §6.7). */
function decodeQuotedPrintable(text: string): string {
  const joined = text.replace(/=[ \t]*\r?\n/g, '')
  const bytes = joined.replace(/=([0-9A-F]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString()
}

type Given = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value of a key; undefined also for null. */
function at(object: Given, key: string): unknown {
  return object[key] ?? undefined
}

function textAt(object: Given, key: string): string | undefined {
  const value = at(object, key)
  if (value !== undefined && typeof value !== 'string') throw invalid(`${key} is not a string`)
  return value
}

function textsAt(object: Given, key: string): readonly string[] | undefined {
  const value = at(object, key)
  if (value === undefined) return undefined
  if (!Array.isArray(value) || value.some((one) => typeof one !== 'string')) {
    throw invalid(`${key} is not a list of strings`)
  }
  return value
}

function objectAt(object: Given, key: string): Given | undefined {
  const value = at(object, key)
  if (value !== undefined && !isObject(value)) throw invalid(`${key} is not an object`)
  return value
}

/** Formats an ISO 8601 time without fractional seconds, which Swift on Linux does not parse. */
export function formatTime(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z')
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

function timeAt(object: Given, key: string): string | undefined {
  const text = textAt(object, key)
  if (text === undefined) return undefined
  const time = new Date(text)
  if (!TIME.test(text) || Number.isNaN(time.valueOf()))
    throw invalid(`${key} is not an ISO 8601 time`)
  return formatTime(time)
}

function repositoriesOf(given: Given): readonly string[] | undefined {
  const urls = textsAt(given, 'repositoryURLs')
  if (urls === undefined) return undefined
  if (urls.length > REPOSITORIES_MAX) {
    throw invalid(`repositoryURLs has more than ${REPOSITORIES_MAX} entries`)
  }
  if (urls.some((url) => url.length > URL_CHARACTERS_MAX)) {
    throw invalid(`repositoryURLs has an entry of more than ${URL_CHARACTERS_MAX} characters`)
  }
  return urls
}

/** Returns the author; undefined without a name, because the client requires one. */
function authorOf(given: Given | undefined): JsonObject | undefined {
  if (given === undefined) return undefined
  const parts = {
    givenName: textAt(given, 'givenName'),
    middleName: textAt(given, 'middleName'),
    familyName: textAt(given, 'familyName'),
  }
  const joined = Object.values(parts).filter((part) => part)
  const name = textAt(given, 'name') ?? joined.join(' ')
  const organization = personOf(objectAt(given, 'organization'))
  const author = compact({ ...personOf({ ...given, name }), ...parts, organization })
  return author['name'] === undefined ? undefined : author
}

function personOf(given: Given | undefined): JsonObject | undefined {
  const name = given && textAt(given, 'name')
  if (given === undefined || name === undefined || name === '') return undefined
  const [email, description, url] = ['email', 'description', 'url'].map((key) => textAt(given, key))
  return compact({ name, email, description, url })
}

function compact(object: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
}
