/** A release of a Swift package: what is kept of it, and what its clients read. */

import type { FullVersion, JsonObject, Package, PackageVersion } from '../../conf/package.js'
import { identityOf } from './identifiers.js'
import type { Link } from './links.js'
import type { Manifests } from './manifests.js'
import { formatTime } from './metadata.js'
import { sortVersions } from './versions.js'

/** As it is kept beside the archive. */
export type Release = {
  readonly manifests: Manifests
  /** As parseMetadata gave it. */
  readonly metadata: JsonObject
  readonly signature?: Signature | undefined
}

/** In base64. */
export type Signature = {
  readonly format: string
  readonly archive: string
  readonly metadata?: string | undefined
}

/** What is kept of a version: nobody else writes it. */
export function releaseOf({ metadata }: FullVersion): Release {
  return metadata as unknown as Release
}

/** Where a release is. */
export function releaseUrl(baseUrl: string, packageName: string, version: string): string {
  const { scope, name } = identityOf(packageName)
  return `${baseUrl}/${scope}/${name}/${version}`
}

/** The document of a release (4.2). */
export function formatRelease({ name }: Package, version: FullVersion): string {
  const { metadata, signature } = releaseOf(version)
  const signing = signature && {
    signatureBase64Encoded: signature.archive,
    signatureFormat: signature.format,
  }
  const checksum = version.files[0]?.digests.sha256
  return JSON.stringify({
    id: name,
    version: version.version,
    resources: [{ name: 'source-archive', type: 'application/zip', checksum, signing }],
    metadata,
    publishedAt: formatTime(new Date(version.createdAtMs)),
  })
}

/** The latest release, and the ones before and after this one in precedence (4.2). */
export function neighboursOf(
  versions: readonly PackageVersion[],
  version: string,
  urlOf: (version: string) => string,
): readonly Link[] {
  const sorted = sortVersions(versions).map((one) => one.version)
  const place = sorted.indexOf(version)
  const found = {
    'latest-version': sorted[0],
    'successor-version': place < 0 ? undefined : sorted[place - 1],
    'predecessor-version': place < 0 ? undefined : sorted[place + 1],
  }
  return Object.entries(found).flatMap(([rel, one]) =>
    one === undefined ? [] : [{ rel, url: urlOf(one) }],
  )
}

/** The document of all releases (4.1), the highest first. */
export function formatReleases(
  versions: readonly PackageVersion[],
  urlOf: (version: string) => string,
): string {
  const releases = sortVersions(versions).map(({ version }) => [version, { url: urlOf(version) }])
  return JSON.stringify({ releases: Object.fromEntries(releases) })
}

/** Where the source of a release is kept, as its publisher says. */
export function repositoriesOf(version: FullVersion | undefined): readonly Link[] {
  const urls = version && releaseOf(version).metadata['repositoryURLs']
  if (!Array.isArray(urls)) return []
  return urls.map((url, at) => ({ url: String(url), rel: at === 0 ? 'canonical' : 'alternate' }))
}
