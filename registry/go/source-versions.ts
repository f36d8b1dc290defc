/**
 * Versions of modules in repositories, from tags and commits. They are those that the go command
 * finds if it clones the repository itself (cmd/go/internal/modfetch/coderepo.go).
 */

import { Failure, notFound } from '../../conf/failures.js'
import type { SourceCommit, SourceReader } from '../source-repository.js'
import { readRetractions, type VersionRange } from './go-mod.js'
import {
  describesCommit,
  INCOMPATIBLE,
  inOrder,
  isInRange,
  latestVersion,
  matchesMajor,
  parsePseudoVersion,
  pseudoVersion,
  versionOfTag,
  withoutIncompatible,
} from './module-version.js'
import { GO_MOD_BYTES_MAX } from './module-zip.js'
import { below, findModulePlace, type ModulePlace, type SourceModule } from './source-module.js'

/** Lists the versions that have a tag, in no particular order. */
export async function listSourceVersions(
  module: SourceModule,
  reader: SourceReader,
): Promise<readonly string[]> {
  const { directory, pathMajor } = module
  const versions = (await reader.listTags()).flatMap((tag) => canonicalVersion(module, tag) ?? [])
  const own = inOrder(versions.filter((version) => matchesMajor(version, pathMajor)))
  if (directory !== '' || pathMajor !== '') return own
  const others = inOrder(versions.filter((version) => !matchesMajor(version, '')))
  const last = own.at(-1)
  if (last !== undefined && (await hasGoMod(reader, last))) return own
  const incompatible: string[] = []
  for (const major of new Set(others.map(majorOf))) {
    const group = others.filter((version) => majorOf(version) === major)
    if (await hasGoMod(reader, group.at(-1) ?? '')) continue
    incompatible.push(...group.map((version) => `${version}${INCOMPATIBLE}`))
  }
  return [...own, ...incompatible]
}

function majorOf(version: string): string {
  return version.slice(0, version.indexOf('.'))
}

/** Returns the version of a tag of the module, if the tag is exactly that version. */
function canonicalVersion({ directory }: SourceModule, tag: string): string | undefined {
  const start = directory === '' ? '' : `${directory}/`
  const text = tag.startsWith(start) ? tag.slice(start.length) : ''
  return versionOfTag(text) === text && parsePseudoVersion(text) === undefined ? text : undefined
}

/** True if the commit of a tag at the top of the repository has a go.mod. */
async function hasGoMod(reader: SourceReader, tag: string): Promise<boolean> {
  const commit = await reader.findCommit(tag)
  return commit !== undefined && (await hasFile(reader, commit, 'go.mod'))
}

async function hasFile(reader: SourceReader, { id }: SourceCommit, path: string): Promise<boolean> {
  return (await reader.readFile(id, path, GO_MOD_BYTES_MAX)) !== undefined
}

/** A version with the commit that it is. */
export interface SourceVersion extends ModulePlace {
  readonly version: string
  readonly commit: SourceCommit
}

/** Finds the latest version, or else the pseudo-version of the default branch. */
export async function findLatestSource(
  module: SourceModule,
  reader: SourceReader,
): Promise<SourceVersion> {
  const listed = await listSourceVersions(module, reader)
  // Incompatible versions were left out if the latest compatible one has a go.mod.
  const latest = await latestVersion(listed, async () => false)
  return await findSourceVersion(module, reader, latest ?? 'HEAD')
}

/**
 * Finds a version, or the version of a tag, branch or commit: that of the highest tag of the
 * commit, or else a pseudo-version. Throws `not_found` with the reason.
 */
export async function findSourceVersion(
  module: SourceModule,
  reader: SourceReader,
  text: string,
): Promise<SourceVersion> {
  const pseudo = parsePseudoVersion(text)
  const base = withoutIncompatible(text)
  const isVersion = pseudo === undefined && versionOfTag(base) === base
  const isOfTag = isVersion || /^v\d+(?:\.\d+)?$/.test(base)
  const name = pseudo?.revision ?? (isOfTag ? below(module.directory, base) : text)
  const commit = await reader.findCommit(name)
  if (commit === undefined) throw notFound(`not found: the repository has no ${text}`)
  const found = { module, reader, commit, text }
  if (pseudo !== undefined) {
    await checkPseudoVersion(found)
    return await versionAt(found, base)
  }
  if (isVersion) {
    if (commit.ref !== `refs/tags/${name}`) throw notFound(`not found: ${name} is not a tag`)
    return await versionAt(found, base)
  }
  return await versionAt(found, await versionOfCommit(found))
}

interface FoundCommit {
  readonly module: SourceModule
  readonly reader: SourceReader
  readonly commit: SourceCommit
  /** Version, or name of the commit, that was requested. */
  readonly text: string
}

/** Throws `not_found` unless the pseudo-version is one that the go command accepts. */
async function checkPseudoVersion({ module, reader, commit, text }: FoundCommit): Promise<void> {
  const pseudo = parsePseudoVersion(text)
  if (pseudo === undefined || !describesCommit(pseudo, commit)) {
    throw notFound(`not found: ${text} does not have the id and the time of its commit`)
  }
  const { base } = pseudo
  if (base === undefined) {
    if (module.pathMajor !== '' || text.startsWith('v0.')) return
    throw notFound(`not found: ${text} must be v0, because it is based on no tag`)
  }
  const tags = await reader.listMergedTags(commit.id)
  if (tags.some(({ name, isOfCommit }) => isOfCommit && name === below(module.directory, base))) {
    throw notFound(`not found: the commit of ${text} has the tag ${base}`)
  }
  if (!tags.some(({ name }) => versionOfModuleTag(module, name) === base)) {
    throw notFound(`not found: ${base} is not a tag of an ancestor of ${text}`)
  }
}

/** Returns the version of a tag, which may have build metadata; undefined for other tags. */
function versionOfModuleTag({ directory }: SourceModule, tag: string): string | undefined {
  const start = directory === '' ? '' : `${directory}/`
  if (!tag.startsWith(start) || parsePseudoVersion(tag) !== undefined) return undefined
  return versionOfTag(tag.slice(start.length))
}

/** Returns the version of the commit's highest tag, or else its pseudo-version. */
async function versionOfCommit(found: FoundCommit): Promise<string> {
  const { module, reader, commit, text } = found
  const tags = await reader.listMergedTags(commit.id)
  const allows = await incompatibleRule(found)
  const retracted = await readRetracted(found)
  const versionsOf = async (kind: (tag: (typeof tags)[number]) => boolean) => {
    const versions = tags.filter(kind).flatMap(({ name }) => versionOfModuleTag(module, name) ?? [])
    const allowed: string[] = []
    for (const version of new Set(versions)) {
      const isOwn = matchesMajor(version, module.pathMajor)
      if (isInRange(version, retracted)) continue
      if (isOwn || (await allows(version))) allowed.push(version)
    }
    return inOrder(allowed)
  }
  const own = await versionsOf(
    ({ name, isOfCommit }) => isOfCommit && canonicalVersion(module, name) !== undefined,
  )
  const highest = own.at(-1)
  if (highest !== undefined) return highest
  const named = versionOfTag(text)
  const isOfCommit = tags.some(
    (tag) => tag.isOfCommit && versionOfModuleTag(module, tag.name) === named,
  )
  const base = named !== undefined && isOfCommit ? named : (await versionsOf(() => true)).at(-1)
  return pseudoVersion(commit, { base, pathMajor: module.pathMajor })
}

/** Reads the versions that the go.mod of the highest release retracts, or of a pre-release. */
async function readRetracted({ module, reader }: FoundCommit): Promise<readonly VersionRange[]> {
  const listed = await listSourceVersions(module, reader)
  const compatible = listed.filter((version) => !version.endsWith(INCOMPATIBLE))
  const highest = compatible.findLast((version) => !version.includes('-')) ?? compatible.at(-1)
  const commit = highest && (await reader.findCommit(below(module.directory, highest)))
  if (!commit) return []
  const { goMod } = await findModulePlace(module, reader, commit.id).catch(withoutGoMod)
  return goMod === undefined ? [] : readRetractions(goMod.toString())
}

/** Replaces the refusal of a commit without the module. */
function withoutGoMod(error: unknown): Pick<ModulePlace, 'goMod'> {
  if (error instanceof Failure && error.failure === 'not_found') return { goMod: undefined }
  throw error
}

/**
 * Returns a function that decides if a version from v2 on may be `+incompatible`: if the repository
 * has no go.mod, neither at its top nor in the folder of the major version.
 */
async function incompatibleRule({ module, reader, commit, text }: FoundCommit) {
  const { directory, pathMajor } = module
  const isPlain = directory === '' && pathMajor === ''
  const isOpen = isPlain && !(await hasFile(reader, commit, 'go.mod'))
  const byMajor = new Map<string, boolean>()
  return async (version: string): Promise<boolean> => {
    if (!isOpen || text.endsWith(INCOMPATIBLE)) return isOpen
    const major = majorOf(version)
    const known = byMajor.get(major) ?? !(await hasFile(reader, commit, `${major}/go.mod`))
    byMajor.set(major, known)
    return known
  }
}

/** Returns the version at the commit, with `+incompatible` if necessary. */
async function versionAt(found: FoundCommit, base: string): Promise<SourceVersion> {
  const { module, reader, commit, text } = found
  const place = await findModulePlace(module, reader, commit.id)
  if (matchesMajor(base, module.pathMajor)) {
    if (text.endsWith(INCOMPATIBLE)) throw notFound(`not found: ${base} is compatible`)
    return { ...place, version: base, commit }
  }
  const allows = await incompatibleRule(found)
  if (!(await allows(base))) {
    throw notFound(
      `not found: ${module.path} cannot have ${base}, which is of another major version`,
    )
  }
  return { ...place, version: `${base}${INCOMPATIBLE}`, commit }
}
