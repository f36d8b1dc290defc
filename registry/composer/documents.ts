/** The documents of a Composer repository (getcomposer.org/doc/05-repositories.md, "Composer"). */

import type { FullVersion, JsonObject } from '../../conf/package.js'
import type { ListedPackage, PackageSource } from '../package-store.js'
import { readMetadata } from './metadata.js'

/** Returns `packages.json`, the entry point, which has the URLs of all other documents. */
export function serviceIndex(baseUrl: string): JsonObject {
  return {
    'metadata-url': `${baseUrl}/p2/%package%.json`,
    list: `${baseUrl}/list.json`,
    search: `${baseUrl}/search.json?q=%query%&type=%type%`,
    'providers-api': `${baseUrl}/providers/%package%.json`,
    'notify-batch': `${baseUrl}/downloads`,
  }
}

export interface PackageDocument {
  readonly name: string
  readonly baseUrl: string
  /** True for branches and development versions, false for releases. */
  readonly isDev: boolean
  /** Repository whose tags are the sources of the versions. */
  readonly source?: PackageSource | undefined
}

/**
 * Returns the document with the versions of a package. Each record is complete. The document has no
 * `minified` field, with which Composer would inherit values from the previous record.
 */
export async function packageDocument(
  versions: readonly FullVersion[],
  { name, baseUrl, isDev, source }: PackageDocument,
): Promise<JsonObject> {
  const listed = versions.filter(({ metadata }) => readMetadata(metadata).isDev === isDev)
  const tags = listed.flatMap(({ metadata }) => tagsOf(readMetadata(metadata).version))
  const commits = source && tags.length > 0 ? await source.commitsOf(tags) : NONE
  const records = listed.map((version) => ({
    ...recordOf(version, name, baseUrl),
    ...sourceOf(version, source, commits),
  }))
  return { packages: { [name]: records } }
}

const NONE: ReadonlyMap<string, string> = new Map()

/** Returns the names that the tag of a version can have, the version as it is written first. */
function tagsOf(version: string): readonly string[] {
  return [version, version.startsWith('v') ? version.slice(1) : `v${version}`]
}

/** Returns the field `source` of a version that has a tag. */
function sourceOf(
  { metadata }: FullVersion,
  source: PackageSource | undefined,
  commits: ReadonlyMap<string, string>,
): JsonObject {
  const tag = tagsOf(readMetadata(metadata).version).find((tag) => commits.has(tag))
  if (source === undefined || tag === undefined) return {}
  return { source: { type: 'git', url: source.url, reference: commits.get(tag) } }
}

function recordOf(version: FullVersion, name: string, baseUrl: string): JsonObject {
  const { fields, normalized, type, distType, version: pretty } = readMetadata(version.metadata)
  const [file] = version.files
  const path = [name, version.version, file?.name ?? ''].map(encodeURIComponent).join('/')
  const sha1 = file?.digests.sha1 ?? ''
  return {
    ...fields,
    name,
    version: pretty,
    version_normalized: normalized,
    type,
    time: new Date(version.createdAtMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    // A changed reference shows Composer that a version was removed and published again.
    dist: { type: distType, url: `${baseUrl}/files/${path}`, reference: sha1, shasum: sha1 },
  }
}

/** Returns a package as a search result. */
export function searchResult({ name, downloads, latest }: ListedPackage): JsonObject {
  const { abandoned } = readMetadata(latest.metadata).fields
  const isAbandoned = abandoned !== undefined && abandoned !== null && abandoned !== false
  return {
    name,
    description: descriptionOf(latest),
    downloads,
    ...(isAbandoned ? { abandoned } : {}),
  }
}

/** Returns a package as an entry of the packages that provide a name. */
export function provider({ name, latest }: ListedPackage): JsonObject {
  return { name, description: descriptionOf(latest), type: readMetadata(latest.metadata).type }
}

function descriptionOf({ metadata }: ListedPackage['latest']): string {
  const { description } = readMetadata(metadata).fields
  return typeof description === 'string' ? description : ''
}
