/** Names of Debian packages, versions, architectures, distributions and components. */

import { Failure } from '../../conf/failures.js'
import { quote } from '../archive/zip-paths.js'

function refuse(what: string, text: string, rule: string): Failure {
  return new Failure('bad_request', `${what} is invalid: ${quote(text)} must ${rule}`)
}

/** Returns a package name (Debian policy 5.6.7). Throws `bad_request` if it is invalid. */
export function parsePackageName(text: string): string {
  if (/^[a-z0-9][a-z0-9+.-]+$/.test(text)) return text
  const rule = "have at least two lower-case letters, digits, '+', '-' and '.'"
  throw refuse('package name', text, `${rule}, and begin with a letter or digit`)
}

/** Maximum epoch, which dpkg stores in an int. */
const EPOCH_MAX = 2_147_483_647

/**
 * Returns a version, which can have an epoch (Debian policy 5.6.12). Throws `bad_request` if it is
 * invalid.
 */
export function parseVersion(text: string): string {
  const [, epoch = '0', version] =
    /^(?:(\d{1,10}):)?([A-Za-z0-9][A-Za-z0-9.+~-]*)$/.exec(text) ?? []
  const isEpoch = String(Number(epoch)) === epoch && Number(epoch) <= EPOCH_MAX
  if (isEpoch && version !== undefined && !version.endsWith('-')) return text
  const rule = "consist of letters, digits, '.', '+', '~' and '-', after an optional epoch"
  throw refuse('package version', text, `${rule}, such as 1:2.0-1`)
}

/**
 * Returns the architecture of a package (Debian policy 5.6.8). Throws `bad_request` if it is
 * invalid, a wildcard or `source`.
 */
export function parseArchitecture(text: string): string {
  const parts = text.split('-')
  const isOne = !parts.includes('any') && text !== 'source'
  if (isOne && text.length <= 50 && parts.every((part) => /^[a-z0-9]+$/.test(part))) return text
  const rule = "be 'all' or one architecture in lower-case letters, digits and '-'"
  throw refuse('package architecture', text, rule)
}

const PLACE_CHARACTERS_MAX = 100

/**
 * Returns a distribution or a component, one segment of a URL. Throws `bad_request` if it is
 * invalid.
 */
export function parsePlace(text: string): string {
  const isPlain = /^[A-Za-z0-9][A-Za-z0-9.+~_-]*$/.test(text)
  // The folder by-hash of a distribution has files by their digest.
  if (isPlain && text.length <= PLACE_CHARACTERS_MAX && text !== 'by-hash') return text
  const rule = `have 1 to ${PLACE_CHARACTERS_MAX} letters, digits, '.', '+', '~', '_' and '-'`
  const start = "begin with a letter or digit, and not be 'by-hash'"
  throw refuse('distribution or component', text, `${rule}, ${start}`)
}

export interface PoolFile {
  readonly packageName: string
  readonly version: string
  readonly architecture: string
}

/** Returns the name of a file in the pool. */
export function poolFileName({ packageName, version, architecture }: PoolFile): string {
  return `${packageName}_${version}_${architecture}.deb`
}

/** Parses the name of a file in the pool, whose three parts contain no `_`. */
export function readPoolFileName(fileName: string): PoolFile | undefined {
  const [, packageName, version, architecture] =
    /^([^_]+)_([^_]+)_([^_]+)\.deb$/.exec(fileName) ?? []
  if (packageName === undefined || version === undefined || architecture === undefined) {
    return undefined
  }
  return { packageName, version, architecture }
}
