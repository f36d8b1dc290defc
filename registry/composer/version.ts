/** Versions as Composer reads them (composer/semver, VersionParser::normalize). */

import { Failure } from '../../conf/failures.js'

export interface ComposerVersion {
  /** As its author wrote it. */
  readonly pretty: string
  /** As Composer compares it: `1.0` and `v1.0.0` are both `1.0.0.0`. */
  readonly normalized: string
  /** One text for all that Composer takes for the same version, as short as people know it. */
  readonly key: string
  /** Clients look for these in a document of their own. */
  readonly isDev: boolean
}

const CHARACTERS_MAX = 255

/** Throws `bad_request` for what Composer could not use as the version of a package. */
export function parseVersion(pretty: string): ComposerVersion {
  if (pretty.length > CHARACTERS_MAX) {
    throw new Failure('bad_request', `A version has at most ${CHARACTERS_MAX} characters.`)
  }
  // This refuses `1.0 as 2.0` as well: an alias is of a requirement, and no version.
  if (/[\s\p{C}\p{Z}]/u.test(pretty)) {
    throw new Failure('bad_request', 'A version has no blanks and no control characters.')
  }
  const normalized = normalizeVersion(pretty)
  if (normalized === undefined || normalized === 'dev-') {
    throw new Failure(
      'bad_request',
      `${JSON.stringify(pretty)} is no version that Composer knows: such are 1.0.0, ` +
        '2.1.0-beta2, 1.x-dev and dev-main.',
    )
  }
  const isDev = normalized.startsWith('dev-') || normalized.endsWith('-dev')
  return { pretty, normalized, key: keyOf(normalized), isDev }
}

/**
 * What a version is to Composer; undefined for what it refuses. The steps and their order are those
 * of the original. Its expressions are rewritten where they could take long.
 */
export function normalizeVersion(text: string): string | undefined {
  let version = withoutAlias(trimBlanks(text)).replace(STABILITY_FLAG, '')
  if (['master', 'trunk', 'default'].includes(version)) version = `dev-${version}`
  if (/^dev-/i.test(version)) return `dev-${version.slice('dev-'.length)}`
  version = version.replace(/^([^,+\s]+)\+\S+$/, '$1')
  return normalizeNumbers(version) ?? normalizeDate(version) ?? normalizeNumericBranch(version)
}

/** Of the blanks of Unicode PHP takes none away. */
export function trimBlanks(text: string): string {
  return text.replace(/^[ \t\n\r\0\x0b]+|(?<![ \t\n\r\0\x0b])[ \t\n\r\0\x0b]+$/g, '')
}

/** `1.0 as 2.0` is `1.0`. */
export function withoutAlias(text: string): string {
  return text.replace(/^([^,\s]+) +as +[^,\s]+$/, '$1')
}

const STABILITY_FLAG = /@(?:stable|RC|beta|alpha|dev)$/i

/** `-beta.2`, `RC1`, `-dev`: the stability, its number, and whether it is under development. */
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
  // In other cases of its letters Composer keeps it, and so must whoever compares with Composer.
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

/** What Composer puts where a branch says `x`: more than any number that is released. */
const ANY = '9999999'

/** `1.x-dev`: a branch of numbers. One of another name must begin with `dev-`. */
function normalizeNumericBranch(version: string): string | undefined {
  const branch = trimBlanks(/^(.*?)[.-]?dev$/i.exec(version)?.[1] ?? '')
  const match = /^v?(\d+)(\.(?:\d+|[x*]))?(\.(?:\d+|[x*]))?(\.(?:\d+|[x*]))?$/i.exec(branch)
  if (match === null) return undefined
  const [, major = '', minor = '.x', patch = '.x', fourth = '.x'] = match
  return `${major}${minor}${patch}${fourth}`.replaceAll(/[x*]/gi, ANY).concat('-dev')
}

/** `1.2.0.0` is known as `1.2.0`, and `1.9999999.9999999.9999999-dev` as `1.x-dev`. */
function keyOf(normalized: string): string {
  const branch = /^(\d+(?:\.\d+)*?)((?:\.9999999)+)-dev$/.exec(normalized)
  if (branch !== null && normalized.split('.').length === 4) return `${branch[1]}.x-dev`
  return normalized.replace(/^(\d+\.\d+\.\d+)\.0(?=-|$)/, '$1')
}
