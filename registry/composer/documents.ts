/** The documents of a Composer repository (getcomposer.org/doc/05-repositories.md, "Composer"). */

import type { FullVersion, JsonObject } from '../../conf/package.js'
import type { ListedPackage } from '../package-store.js'
import { readMetadata } from './metadata.js'

/** Returns `packages.json`, the entry point, which has the URLs of all other documents. */
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
  /** True for branches and development versions, false for releases. */
  readonly isDev: boolean
}

/**
 * Returns the document with the versions of a package. Each record is complete. The document has no
 * `minified` field, with which Composer would inherit values from the previous record.
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
    // A changed reference shows Composer that a version was removed and published again.
    dist: { type: distType, url: `${baseUrl}/files/${path}`, reference: sha1, shasum: sha1 },
  }
}

/** Returns a package as a search result. */
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
