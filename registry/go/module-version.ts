/** Versions of modules and the choice of the latest one (go.dev/ref/mod#versions). */

import compare from 'semver/functions/compare.js'
import parse from 'semver/functions/parse.js'
import { splitPathMajor } from './module-path.js'

/** Suffix of versions from v2 on whose module path has no major version suffix. */
const INCOMPATIBLE = '+incompatible'

/** Returns the reason why a module of that path cannot have that version; undefined if it can. */
export function versionError(
  version: string,
  { path, hasGoMod }: { readonly path: string; readonly hasGoMod: boolean },
): string | undefined {
  const isIncompatible = version.endsWith(INCOMPATIBLE)
  const parsed = parse(isIncompatible ? version.slice(1, -INCOMPATIBLE.length) : version.slice(1))
  // Only the canonical form is accepted, not v1.2 or v1.2.3+linux.
  if (parsed === null || `v${parsed.version}${isIncompatible ? INCOMPATIBLE : ''}` !== version) {
    return 'it must have the form v1.2.3 or v1.2.3-pre'
  }
  const major = `v${parsed.major}`
  const wanted = splitPathMajor(path)
  if (isIncompatible) {
    if (hasGoMod) return `a module with a go.mod cannot be ${INCOMPATIBLE}`
    if (wanted !== '' || parsed.major < 2) {
      return `${INCOMPATIBLE} requires v2 or higher and a path without major version suffix`
    }
    return undefined
  }
  if (wanted === '') {
    return parsed.major < 2 ? undefined : `the module path must end with /${major}`
  }
  // Pseudo-versions of gopkg.in/x.v1 begin with v0 if the repository has no tags.
  if (wanted === 'v1' && version.startsWith('v0.0.0-')) return undefined
  return wanted === major ? undefined : `the module path requires the major version ${wanted}`
}

/** Returns the versions for `@v/list` in order: all except pseudo-versions. */
export function listableVersions(versions: readonly string[]): readonly string[] {
  return inOrder(versions.filter((version) => !PSEUDO.test(version)))
}

/**
 * Returns the version that the go command selects for `latest`: the highest release, or else the
 * highest pre-release, or else the newest pseudo-version. If the highest compatible version has a
 * go.mod, incompatible versions are ignored.
 */
export async function latestVersion(
  versions: readonly string[],
  hasGoMod: (version: string) => Promise<boolean>,
): Promise<string | undefined> {
  const listed = listableVersions(versions)
  const compatible = listed.filter((version) => !version.endsWith(INCOMPATIBLE))
  const last = compatible.at(-1)
  const isModule = last !== undefined && compatible.length < listed.length && (await hasGoMod(last))
  const candidates = isModule ? compatible : listed
  const release = candidates.findLast((version) => !version.includes('-'))
  return release ?? candidates.at(-1) ?? newestCommit(versions)
}

/** Pseudo-version: a commit's time and digest (go.dev/ref/mod#pseudo-versions). */
const PSEUDO = /^v\d+\.(?:0\.0-|\d+\.\d+-(?:[^+]*\.)?0\.)(\d{14})-[A-Za-z0-9]+(?:\+incompatible)?$/

function newestCommit(versions: readonly string[]): string | undefined {
  const timeOf = (version: string) => Number(PSEUDO.exec(version)?.[1])
  return inOrder(versions)
    .toSorted((a, b) => timeOf(a) - timeOf(b))
    .at(-1)
}

function inOrder(versions: readonly string[]): readonly string[] {
  return versions.toSorted(compare)
}
