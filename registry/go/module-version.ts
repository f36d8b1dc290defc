/** Versions of modules and the choice of the latest one (go.dev/ref/mod#versions). */

import compare from 'semver/functions/compare.js'
import parse from 'semver/functions/parse.js'
import type { VersionRange } from './go-mod.js'
import { splitPathMajor } from './module-path.js'

/** Suffix of versions from v2 on whose module path has no major version suffix. */
export const INCOMPATIBLE = '+incompatible'

/** Returns the reason why a module of that path cannot have that version; undefined if it can. */
export function versionError(
  version: string,
  { path, hasGoMod }: { readonly path: string; readonly hasGoMod: boolean },
): string | undefined {
  const isIncompatible = version.endsWith(INCOMPATIBLE)
  const parsed = parse(withoutIncompatible(version).slice(1))
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

/** Returns the version without the suffix `+incompatible`. */
export function withoutIncompatible(version: string): string {
  return version.endsWith(INCOMPATIBLE) ? version.slice(0, -INCOMPATIBLE.length) : version
}

/**
 * Returns the version `v1.2.3` or `v1.2.3-pre` that a text begins with, without the build metadata
 * of `v1.2.3+meta`. Undefined for all other texts, such as `v1`.
 */
export function versionOfTag(text: string): string | undefined {
  const parsed = text.startsWith('v') ? parse(text.slice(1)) : null
  const version = `v${parsed?.version}`
  return text === version || text.startsWith(`${version}+`) ? version : undefined
}

/** True if a module with that major version suffix, or with none, can have the version. */
export function matchesMajor(version: string, pathMajor: string): boolean {
  const [major] = version.split('.', 1)
  return pathMajor === '' ? major === 'v0' || major === 'v1' : major === pathMajor
}

/** True if one of the ranges contains the version. */
export function isInRange(version: string, ranges: readonly VersionRange[]): boolean {
  return ranges.some(({ low, high }) => {
    const hasEnds = versionOfTag(low) !== undefined && versionOfTag(high) !== undefined
    return hasEnds && compare(low, version) <= 0 && compare(version, high) <= 0
  })
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
const PSEUDO =
  /^(v\d+\.(?:0\.0-|\d+\.\d+-(?:[^+]*\.)?0\.))(\d{14})-([A-Za-z0-9]+)(?:\+incompatible)?$/

/** A commit as a pseudo-version describes it. */
export interface PseudoVersion {
  /** Highest version of an ancestor; undefined if there is none. */
  readonly base: string | undefined
  /** Time of the commit in UTC: YYYYMMDDhhmmss. */
  readonly time: string
  /** The first digits of the commit's id. */
  readonly revision: string
}

/** Parses a pseudo-version; undefined for other versions. */
export function parsePseudoVersion(version: string): PseudoVersion | undefined {
  const [, start, time = '', revision = ''] = PSEUDO.exec(version) ?? []
  if (start === undefined) return undefined
  const [, release = '', patch = ''] = /^(v\d+\.\d+\.)(\d+)-0\.$/.exec(start) ?? []
  const ofRelease = patch === '' ? undefined : `${release}${BigInt(patch) - 1n}`
  const ofPreRelease = start.endsWith('.0.') ? start.slice(0, -'.0.'.length) : undefined
  return { base: ofRelease ?? ofPreRelease, time, revision }
}

const REVISION_DIGITS = 12

/** Returns the pseudo-version of a commit, which is higher than `base` and lower than the next. */
export function pseudoVersion(
  { id, committedAtMs }: { readonly id: string; readonly committedAtMs: number },
  { base, pathMajor }: { readonly base: string | undefined; readonly pathMajor: string },
): string {
  const end = `${pseudoTime(committedAtMs)}-${id.slice(0, REVISION_DIGITS)}`
  if (base === undefined) return `${pathMajor || 'v0'}.0.0-${end}`
  if (base.includes('-')) return `${base}.0.${end}`
  const patchAt = base.lastIndexOf('.') + 1
  return `${base.slice(0, patchAt)}${BigInt(base.slice(patchAt)) + 1n}-0.${end}`
}

function pseudoTime(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\D/g, '').slice(0, 14)
}

/** True if the pseudo-version has the id and the time of the commit. */
export function describesCommit(
  { revision, time }: PseudoVersion,
  { id, committedAtMs }: { readonly id: string; readonly committedAtMs: number },
): boolean {
  return revision === id.slice(0, REVISION_DIGITS) && time === pseudoTime(committedAtMs)
}

function newestCommit(versions: readonly string[]): string | undefined {
  const timeOf = (version: string) => Number(parsePseudoVersion(version)?.time)
  return inOrder(versions)
    .toSorted((a, b) => timeOf(a) - timeOf(b))
    .at(-1)
}

/** Sorts versions, lowest first. */
export function inOrder(versions: readonly string[]): readonly string[] {
  return versions.toSorted(compare)
}
