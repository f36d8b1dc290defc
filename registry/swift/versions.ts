/** Versions of Swift packages and their order (Semantic Versioning 2.0.0). */

import type { SemVer } from 'semver'
import compare from 'semver/functions/compare.js'
import parse from 'semver/functions/parse.js'
import { Failure } from '../../conf/failures.js'
import { quote } from '../archive/zip-paths.js'

/** Returns a version. Throws `bad_request` if it is invalid or ends like an archive's file name. */
export function parseVersion(text: string): string {
  const version = parse(text)
  // The library ignores a leading `v` and white space, which the registry does not allow.
  if (version === null || write(version) !== text) {
    const rule = 'must have the form 1.2.3, 1.2.3-beta.1 or 1.2.3+build'
    throw new Failure('bad_request', `invalid package version: ${quote(text)} ${rule}`)
  }
  if (/\.(?:zip|json)$/i.test(text)) {
    const rule = 'must not end with .zip or .json'
    throw new Failure('bad_request', `invalid package version: ${quote(text)} ${rule}`)
  }
  return text
}

function write({ version, build }: SemVer): string {
  return build.length === 0 ? version : `${version}+${build.join('.')}`
}

/** Sorts versions by descending precedence (SemVer 11); equal ones keep their order. */
export function sortVersions<T extends { readonly version: string }>(
  versions: readonly T[],
): readonly T[] {
  return versions
    .map((one) => ({ one, parsed: parse(one.version) ?? '0.0.0' }))
    .sort((a, b) => compare(b.parsed, a.parsed))
    .map(({ one }) => one)
}
