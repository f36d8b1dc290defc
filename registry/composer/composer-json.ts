/** The composer.json of a package, refused if Composer could not load it. */

import { Failure } from '../../conf/failures.js'
import { hasManyValues, JSON_VALUES_MAX } from '../../conf/lib/json-values.js'
import type { Json, JsonObject } from '../../conf/package.js'
import { quote } from '../archive/zip-paths.js'
import { isConstraint } from './constraint.js'
import { isPackageName } from './package-name.js'

export interface ComposerJson {
  readonly name: string
  /** Unparsed version; undefined if composer.json has none. */
  readonly version: string | undefined
  readonly type: string
  /** All fields, except those that the registry sets itself. */
  readonly fields: JsonObject
}

/**
 * Parses a composer.json. Throws `bad_request` if Composer could not load it. Clients load all
 * versions of a package in one document, so one bad version would make all of them unusable.
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
    const rule = 'in lower-case letters, digits and single ".", "_" or "-"'
    throw refused(`"name" must be vendor/project ${rule}, not ${quote(name)}`)
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
    // The values of all versions are parsed together, because clients get them in one document.
    if (hasManyValues(text, JSON_VALUES_MAX)) throw refused(TOO_MANY)
    return JSON.parse(text)
  } catch (cause) {
    if (cause instanceof Failure) throw cause
    throw new Failure('bad_request', 'composer.json is not valid JSON in UTF-8.', { cause })
  }
}

const TOO_MANY = `it has more than ${JSON_VALUES_MAX} values`

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Maximum depth. PHP parses up to 512 levels, and the document around it adds some. */
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

/** Throws for unpaired surrogates, which PHP refuses, and for terminal control characters. */
function checkText(text: string): void {
  if (/[\p{Cs}\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/u.test(text)) {
    throw refused(`it has control characters or unpaired surrogates in ${quote(text)}`)
  }
}

interface Check {
  /** Required type, in a message after "must be". */
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

/** Types of the fields that Composer's ArrayLoader reads (getcomposer.org/doc/04-schema.md). */
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

/**
 * Checks the version constraints. Composer parses those of all versions before it selects one, and
 * fails at the first invalid constraint.
 */
function checkRequirements(fields: JsonObject): void {
  for (const field of REQUIREMENTS) {
    for (const [name, constraint] of Object.entries(fields[field] ?? {})) {
      if (constraint === 'self.version' || isConstraint(String(constraint))) continue
      const what = `${quote(String(constraint))} for ${quote(name)} in "${field}"`
      throw refused(`${what} is not a valid version constraint`)
    }
  }
}

/** Fields that the registry sets: they determine from where and how a package is downloaded. */
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

/** Returns true for objects and for the empty array, as which PHP encodes an empty object. */
function isMap(value: Json): boolean {
  return isObject(value) || (Array.isArray(value) && value.length === 0)
}

/** Returns true for objects of strings. A key of digits is refused: PHP makes it an integer. */
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
  return new Failure('bad_request', `composer.json is invalid: ${why}.`)
}
