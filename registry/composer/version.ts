/** Composer versions and their normalization (composer/semver, VersionParser::normalize). */

import { Failure } from '../../conf/failures.js'
import { quote } from '../archive/zip-paths.js'

export interface ComposerVersion {
  /** Version as the author wrote it. */
  readonly pretty: string
  /** Form that Composer compares: `1.0` and `v1.0.0` are both `1.0.0.0`. */
  readonly normalized: string
  /** Name of the version in the registry: short, and equal for versions that Composer equates. */
  readonly key: string
  /** True for branches and development versions, which clients read from another document. */
  readonly isDev: boolean
}

const CHARACTERS_MAX = 255

/** Parses a version. Throws `bad_request` if Composer could not use it for a package. */
export function parseVersion(pretty: string): ComposerVersion {
  if (pretty.length > CHARACTERS_MAX) {
    throw new Failure('bad_request', `The version is longer than ${CHARACTERS_MAX} characters.`)
  }
  // This also refuses an alias such as `1.0 as 2.0`, which is valid only in a requirement.
  if (/[\s\p{C}\p{Z}]/u.test(pretty)) {
    const rule = 'must not contain white space or control characters'
    throw new Failure('bad_request', `The version ${quote(pretty)} ${rule}.`)
  }
  const normalized = normalizeVersion(pretty)
  if (normalized === undefined || normalized === 'dev-') {
    throw new Failure(
      'bad_request',
      `The version ${quote(pretty)} is not one that Composer can parse: use a form ` +
        'such as 1.0.0, 2.1.0-beta2, 1.x-dev or dev-main.',
    )
  }
  const isDev = normalized.startsWith('dev-') || normalized.endsWith('-dev')
  return { pretty, normalized, key: keyOf(normalized), isDev }
}

/**
 * Returns Composer's normalized form; undefined for a version that it refuses. The steps and their
 * order are those of VersionParser. Its patterns are rewritten if they could take superlinear time.
 */
export function normalizeVersion(text: string): string | undefined {
  let version = withoutAlias(trimBlanks(text)).replace(STABILITY_FLAG, '')
  if (['master', 'trunk', 'default'].includes(version)) version = `dev-${version}`
  if (/^dev-/i.test(version)) return `dev-${version.slice('dev-'.length)}`
  version = version.replace(/^([^,+\s]+)\+\S+$/, '$1')
  return normalizeNumbers(version) ?? normalizeDate(version) ?? normalizeNumericBranch(version)
}

/** Removes the white space that PHP's `trim` removes, which excludes that of Unicode. */
export function trimBlanks(text: string): string {
  return text.replace(/^[ \t\n\r\0\x0b]+|(?<![ \t\n\r\0\x0b])[ \t\n\r\0\x0b]+$/g, '')
}

/** Returns the text without an alias: `1.0 as 2.0` becomes `1.0`. */
export function withoutAlias(text: string): string {
  return text.replace(/^([^,\s]+) +as +[^,\s]+$/, '$1')
}

const STABILITY_FLAG = /@(?:stable|RC|beta|alpha|dev)$/i

/** Suffixes such as `-beta.2`, `RC1` and `-dev`; groups: stability, its number and `dev`. */
export const MODIFIER = '[._-]?(?:(stable|beta|b|RC|alpha|a|patch|pl|p)((?:[.-]?\\d)*))?([.-]?dev)?'

const NUMBERS = new RegExp(`^v?(\\d{1,5})(\\.\\d+)?(\\.\\d+)?(\\.\\d+)?${MODIFIER}$`, 'i')

function normalizeNumbers(version: string): string | undefined {
  const match = NUMBERS.exec(version)
  if (match === null) return undefined
  const [, major = '', minor = '.0', patch = '.0', fourth = '.0', ...modifier] = match
  return addModifier(`${major}${minor}${patch}${fourth}`, modifier)
}

const DATE = new RegExp(`^v?(\\d{4}(?:[.:-]?\\d{2}){1,6}(?:[.:-]?\\d{1,3})?)${MODIFIER}$`, 'i')

function normalizeDate(version: string): string | undefined {
  const match = DATE.exec(version)
  if (match === null) return undefined
  const [, date = '', ...modifier] = match
  return addModifier(date.replaceAll(/\D/g, '.'), modifier)
}

type Modifier = readonly (string | undefined)[]

function addModifier(version: string, [stability, number = '', dev]: Modifier): string {
  // Composer removes the suffix only in lower case: `1.0-Stable` becomes `1.0.0.0-stable`.
  if (stability === 'stable') return version
  const suffix =
    stability === undefined
      ? ''
      : `-${STABILITIES[stability.toLowerCase()] ?? stability.toLowerCase()}`
  return `${version}${suffix}${number.replace(/^[.-]+/, '')}${dev === undefined ? '' : '-dev'}`
}

const STABILITIES: Readonly<Record<string, string>> = {
  a: 'alpha',
  b: 'beta',
  p: 'patch',
  pl: 'patch',
  rc: 'RC',
}

/** Number that Composer substitutes for `x` in a branch, greater than any released number. */
const ANY = '9999999'

/** Normalizes a numeric branch such as `1.x-dev`. Other branches must begin with `dev-`. */
function normalizeNumericBranch(version: string): string | undefined {
  const branch = trimBlanks(/^(.*?)[.-]?dev$/i.exec(version)?.[1] ?? '')
  const match = /^v?(\d+)(\.(?:\d+|[x*]))?(\.(?:\d+|[x*]))?(\.(?:\d+|[x*]))?$/i.exec(branch)
  if (match === null) return undefined
  const [, major = '', minor = '.x', patch = '.x', fourth = '.x'] = match
  return `${major}${minor}${patch}${fourth}`.replaceAll(/[x*]/gi, ANY).concat('-dev')
}

/** Returns `1.2.0` for `1.2.0.0`, and `1.x-dev` for `1.9999999.9999999.9999999-dev`. */
function keyOf(normalized: string): string {
  const branch = /^(\d+(?:\.\d+)*?)((?:\.9999999)+)-dev$/.exec(normalized)
  if (branch !== null && normalized.split('.').length === 4) return `${branch[1]}.x-dev`
  return normalized.replace(/^(\d+\.\d+\.\d+)\.0(?=-|$)/, '$1')
}
