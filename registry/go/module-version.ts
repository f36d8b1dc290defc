/** Versions of modules, and which of them is the latest (go.dev/ref/mod#versions). */

import compare from 'semver/functions/compare.js'
import parse from 'semver/functions/parse.js'
import { splitPathMajor } from './module-path.js'

/** A version that may be before modules: its path says nothing of the major version it has. */
const INCOMPATIBLE = '+incompatible'

/** Why a module of that path cannot have that version. */
export function versionError(
  version: string,
  { path, hasGoMod }: { readonly path: string; readonly hasGoMod: boolean },
): string | undefined {
  const isIncompatible = version.endsWith(INCOMPATIBLE)
  const parsed = parse(isIncompatible ? version.slice(1, -INCOMPATIBLE.length) : version.slice(1))
  // Whoever says less or more, such as v1.2 or v1.2.3+linux, means this one as well.
  if (parsed === null || `v${parsed.version}${isIncompatible ? INCOMPATIBLE : ''}` !== version) {
    return 'it is not of the form v1.2.3 or v1.2.3-pre'
  }
  const major = `v${parsed.major}`
  const wanted = splitPathMajor(path)
  if (isIncompatible) {
    if (hasGoMod) return `a module with a go.mod is never ${INCOMPATIBLE}`
    if (wanted !== '' || parsed.major < 2) return `it is compatible, and not ${INCOMPATIBLE}`
    return undefined
  }
  if (wanted === '') {
    return parsed.major < 2 ? undefined : `the path of the module should end with /${major}`
  }
  // Of the time when gopkg.in/x.v1 had no versions.
  if (wanted === 'v1' && version.startsWith('v0.0.0-')) return undefined
  return wanted === major ? undefined : `by the path of the module it should begin with ${wanted}`
}

/** Those that a list tells, in their order. It leaves out what stands for a commit. */
export function listableVersions(versions: readonly string[]): readonly string[] {
  return inOrder(versions.filter((version) => !PSEUDO.test(version)))
}

/**
 * The version that the go command takes for `latest`: the highest release, or else the highest
 * pre-release, or else the newest commit. Where a compatible version is a module by its go.mod,
 * what is incompatible does not count.
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

/** Of a commit, whose time and digest it tells. */
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
