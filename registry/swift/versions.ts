/** Versions of Swift packages and their order (Semantic Versioning 2.0.0). */

import type { SemVer } from 'semver'
import compare from 'semver/functions/compare.js'
import parse from 'semver/functions/parse.js'
import { Failure } from '../../conf/failures.js'

/** Throws `bad_request` for what is not exactly a version, or could be taken for a file. */
export function parseVersion(text: string): string {
  const version = parse(text)
  // The library passes over a `v` and blanks, which no client puts there.
  if (version === null || write(version) !== text) {
    throw new Failure(
      'bad_request',
      'invalid package version: it is not of the form 1.2.3, 1.2.3-beta.1 or 1.2.3+build',
    )
  }
  if (/\.(?:zip|json)$/i.test(text)) {
    throw new Failure('bad_request', 'invalid package version: it ends like the name of a file')
  }
  return text
}

function write({ version, build }: SemVer): string {
  return build.length === 0 ? version : `${version}+${build.join('.')}`
}

/** Highest precedence first; those of one precedence stay in their order. */
export function sortVersions<T extends { readonly version: string }>(
  versions: readonly T[],
): readonly T[] {
  return versions
    .map((one) => ({ one, parsed: parse(one.version) ?? '0.0.0' }))
    .sort((a, b) => compare(b.parsed, a.parsed))
    .map(({ one }) => one)
}
