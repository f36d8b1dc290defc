/** The documents that Composer reads: what there is, where, and all that is known of it. */

import type { FullVersion, JsonObject } from '../../conf/package.js'
import type { ListedPackage } from '../package-store.js'
import { readMetadata } from './metadata.js'

/** `packages.json`: where everything else is. */
export function serviceIndex(baseUrl: string): JsonObject {
  return {
    'metadata-url': `${baseUrl}/p2/%package%.json`,
    list: `${baseUrl}/list.json`,
    search: `${baseUrl}/search.json?q=%query%&type=%type%`,
  }
}

export interface PackageDocument {
  readonly name: string
  readonly baseUrl: string
  /** Branches and versions under development, or else what is released. */
  readonly isDev: boolean
}

/**
 * The versions of a package. Each record is whole: without the mark `minified`, Composer takes
 * nothing from the record before it.
 */
export function packageDocument(
  versions: readonly FullVersion[],
  { name, baseUrl, isDev }: PackageDocument,
): JsonObject {
  const records = versions
    .filter(({ metadata }) => readMetadata(metadata).isDev === isDev)
    .map((version) => recordOf(version, name, baseUrl))
  return { packages: { [name]: records } }
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
    // By the reference Composer notices that a version was removed and another one put there.
    dist: { type: distType, url: `${baseUrl}/files/${path}`, reference: sha1, shasum: sha1 },
  }
}

/** One result of a search. */
export function searchResult({ name, downloads, latest }: ListedPackage): JsonObject {
  const { description, abandoned } = readMetadata(latest.metadata).fields
  const isAbandoned = abandoned !== undefined && abandoned !== null && abandoned !== false
  return {
    name,
    description: typeof description === 'string' ? description : '',
    downloads,
    ...(isAbandoned ? { abandoned } : {}),
  }
}
