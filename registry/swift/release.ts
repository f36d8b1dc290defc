/** A release of a Swift package: its stored metadata and the documents for clients. */

import type { FullVersion, Json, JsonObject, Package, PackageVersion } from '../../conf/package.js'
import { identityOf } from './identifiers.js'
import type { Link } from './links.js'
import type { Manifests } from './manifests.js'
import { formatTime } from './metadata.js'
import { sortVersions } from './versions.js'

/** Metadata that is stored with a version in the database. */
export type Release = {
  readonly manifests: Manifests
  /** Result of `parseMetadata`. */
  readonly metadata: JsonObject
  readonly signature?: Signature | undefined
}

/** Format of the signatures, and the signatures in base64. */
export type Signature = {
  readonly format: string
  readonly archive: string
  readonly metadata?: string | undefined
}

/** Returns the stored metadata of a version, unchecked, because only this format writes it. */
export function releaseOf({ metadata }: FullVersion): Release {
  return metadata as unknown as Release
}

/** Returns the URL of a release. */
export function releaseUrl(baseUrl: string, packageName: string, version: string): string {
  const { scope, name } = identityOf(packageName)
  return `${baseUrl}/${scope}/${name}/${version}`
}

/** Returns the document of a release (4.2). */
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
    metadata: sourceCode(name, version.version, metadata),
    publishedAt: formatTime(new Date(version.createdAtMs)),
  })
}

/** Returns metadata as a SoftwareSourceCode of schema.org, whose fields the client permits. */
function sourceCode(packageName: string, version: string, metadata: JsonObject): JsonObject {
  const { author, ...rest } = metadata
  return {
    '@context': ['http://schema.org/'],
    '@type': 'SoftwareSourceCode',
    name: identityOf(packageName).name,
    version,
    ...rest,
    ...(author === undefined ? {} : { author: personOf(author) }),
    programmingLanguage: {
      '@type': 'ComputerLanguage',
      name: 'Swift',
      url: 'https://swift.org',
    },
  }
}

function personOf(author: Json): Json {
  const { organization, ...person } = author as JsonObject
  const typed = { '@type': 'Person', ...person }
  if (organization === undefined) return typed
  return { ...typed, organization: { '@type': 'Organization', ...(organization as JsonObject) } }
}

/** Returns links to the latest, the next and the previous release in precedence (4.2). */
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

/** Returns the document of all releases (4.1), the highest first. */
export function formatReleases(
  versions: readonly PackageVersion[],
  urlOf: (version: string) => string,
): string {
  const releases = sortVersions(versions).map(({ version }) => [version, { url: urlOf(version) }])
  return JSON.stringify({ releases: Object.fromEntries(releases) })
}

/** Returns links to the source repositories that the publisher declared (4.1). */
export function repositoriesOf(version: FullVersion | undefined): readonly Link[] {
  const urls = version && releaseOf(version).metadata['repositoryURLs']
  if (!Array.isArray(urls)) return []
  return urls.map((url, at) => ({ url: String(url), rel: at === 0 ? 'canonical' : 'alternate' }))
}
