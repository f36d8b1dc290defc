/** What a package says of itself: its composer.json, refused where clients would fail at it. */

import { Failure } from '../../conf/failures.js'
import { hasManyValues } from '../../conf/json-values.js'
import { JSON_VALUES_MAX } from '../../conf/limits.js'
import type { Json, JsonObject } from '../../conf/package.js'
import { isConstraint } from './constraint.js'
import { isPackageName } from './package-name.js'

export interface ComposerJson {
  readonly name: string
  /** As its author wrote it; absent where the version is told otherwise. */
  readonly version: string | undefined
  readonly type: string
  /** All fields as they are, but for those that are not the package's to say. */
  readonly fields: JsonObject
}

/**
 * Reads the bytes of a composer.json. One that clients could not read would make all versions of
 * its package unusable, which they get in one document. Throws `bad_request`.
 */
export function parseComposerJson(bytes: Uint8Array): ComposerJson {
  const fields = decode(bytes)
  if (!isObject(fields)) throw refused('it must be an object')
  checkValue(fields, DEPTH_MAX)
  for (const [field, check] of Object.entries(CHECKS)) {
    const value = fields[field]
    if (value !== undefined && value !== null && !check.fits(value)) {
      throw refused(`${JSON.stringify(field)} must be ${check.name}`)
    }
  }
  checkRequirements(fields)
  const { name, version, type } = fields
  if (typeof name !== 'string') throw refused('it has no "name"')
  if (!isPackageName(name)) {
    throw refused('"name" must be vendor/project, each of a-z, 0-9 and single ".", "_" or "-"')
  }
  return {
    name,
    version: typeof version === 'string' ? version : undefined,
    type: typeof type === 'string' && type !== '' ? type.toLowerCase() : 'library',
    fields: withoutForeign(fields),
  }
}

function decode(bytes: Uint8Array): Json {
  try {
    const text = UTF8.decode(bytes)
    // They are told to clients with those of all other versions, in one document.
    if (hasManyValues(text, JSON_VALUES_MAX)) throw refused(TOO_MANY)
    return JSON.parse(text)
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    throw new Failure('bad_request', 'composer.json is not valid JSON in UTF-8.', { cause })
  }
}

const TOO_MANY = `it has more than ${JSON_VALUES_MAX} values`

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** PHP reads 512 levels at most, and the document around it has some of its own. */
const DEPTH_MAX = 100

function checkValue(value: Json, depthLeft: number): void {
  if (typeof value === 'string') checkText(value)
  if (typeof value !== 'object' || value === null) return
  if (depthLeft === 0) throw refused(`it is nested deeper than ${DEPTH_MAX} levels`)
  for (const [key, inner] of Object.entries(value)) {
    checkText(key)
    if (inner !== undefined) checkValue(inner, depthLeft - 1)
  }
}

/** PHP takes no half of a pair of surrogates, and terminals show what they are told to show. */
function checkText(text: string): void {
  if (/[\p{Cs}\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/u.test(text)) {
    throw refused('it has control characters')
  }
}

interface Check {
  /** In a sentence after "must be". */
  readonly name: string
  readonly fits: (value: Json) => boolean
}

const TEXT: Check = { name: 'a string', fits: isText }
const TEXTS: Check = { name: 'an array of strings', fits: (value) => isArrayOf(value, isText) }
const TEXT_OR_TEXTS: Check = {
  name: 'a string or an array of strings',
  fits: (value) => isText(value) || isArrayOf(value, isText),
}
const MAP: Check = { name: 'an object', fits: isMap }
const TEXT_MAP: Check = { name: 'an object of strings', fits: isTextMap }
const MAPS: Check = { name: 'an array of objects', fits: (value) => isArrayOf(value, isMap) }
const FLAG: Check = { name: 'true or false', fits: (value) => typeof value === 'boolean' }
const FLAG_OR_TEXT: Check = {
  name: 'true, false or a string',
  fits: (value) => typeof value === 'boolean' || isText(value),
}
const EXTRA: Check = {
  name: 'an object, and its "branch-alias" an object of strings',
  fits: (value) => isMap(value) && (!isObject(value) || hasFittingAlias(value)),
}

/** The fields that Composer's ArrayLoader reads, as it needs them. */
const CHECKS: Readonly<Record<string, Check>> = {
  name: TEXT,
  version: TEXT,
  type: TEXT,
  description: TEXT,
  homepage: TEXT,
  readme: TEXT,
  time: TEXT,
  'target-dir': TEXT,
  'minimum-stability': TEXT,
  license: TEXT_OR_TEXTS,
  bin: TEXT_OR_TEXTS,
  _comment: TEXT_OR_TEXTS,
  keywords: TEXTS,
  'include-path': TEXTS,
  require: TEXT_MAP,
  'require-dev': TEXT_MAP,
  conflict: TEXT_MAP,
  replace: TEXT_MAP,
  provide: TEXT_MAP,
  suggest: TEXT_MAP,
  support: TEXT_MAP,
  autoload: MAP,
  'autoload-dev': MAP,
  scripts: MAP,
  archive: MAP,
  config: MAP,
  authors: MAPS,
  funding: MAPS,
  abandoned: FLAG_OR_TEXT,
  'default-branch': FLAG,
  extra: EXTRA,
}

const REQUIREMENTS = ['require', 'require-dev', 'conflict', 'replace', 'provide'] as const

/** Composer reads those of all versions before it picks one, and gives up at the first odd one. */
function checkRequirements(fields: JsonObject): void {
  for (const field of REQUIREMENTS) {
    for (const [name, constraint] of Object.entries(fields[field] ?? {})) {
      if (constraint === 'self.version' || isConstraint(String(constraint))) continue
      const [of, what] = [name, String(constraint)].map((text) => JSON.stringify(text.slice(0, 99)))
      throw refused(`${what} in "${field}" for ${of} is no version that Composer can read`)
    }
  }
}

/** These say where a package comes from and how it is fetched: the registry's to say. */
const FOREIGN = new Set([
  'version',
  'version_normalized',
  'dist',
  'source',
  'installation-source',
  'uid',
  'time',
  'notification-url',
  'transport-options',
  '__proto__',
])

function withoutForeign(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !FOREIGN.has(field)))
}

function isText(value: Json): value is string {
  return typeof value === 'string'
}

function isArrayOf(value: Json, fits: (value: Json) => boolean): boolean {
  return Array.isArray(value) && value.every(fits)
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** PHP writes an empty object as an empty array. */
function isMap(value: Json): boolean {
  return isObject(value) || (Array.isArray(value) && value.length === 0)
}

/** To PHP a key of digits is a number, where Composer needs a text. */
function isTextMap(value: Json): boolean {
  if (!isObject(value)) return isMap(value)
  return Object.entries(value).every(
    ([key, inner]) => inner !== undefined && isText(inner) && !/^-?\d+$/.test(key),
  )
}

function hasFittingAlias(extra: JsonObject): boolean {
  const alias = extra['branch-alias']
  return alias === undefined || alias === null || isTextMap(alias)
}

function refused(why: string): Failure {
  return new Failure('bad_request', `composer.json is refused: ${why}.`)
}
