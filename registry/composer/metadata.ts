/** Metadata of a version in the database, from which documents are built. */

import type { JsonObject } from '../../conf/package.js'
import type { ComposerJson } from './composer-json.js'
import type { PackageArchive } from './package-archive.js'
import type { ComposerVersion } from './version.js'

export interface VersionMetadata {
  /** Fields of its composer.json, without the version. */
  readonly fields: ComposerJson['fields']
  readonly version: ComposerVersion['pretty']
  readonly normalized: ComposerVersion['normalized']
  readonly isDev: ComposerVersion['isDev']
  readonly type: ComposerJson['type']
  readonly distType: PackageArchive['distType']
}

/** Returns the metadata of a version for the database. */
export function metadataOf(
  { composerJson, distType }: PackageArchive,
  { pretty, normalized, isDev }: ComposerVersion,
): JsonObject {
  const { fields, type } = composerJson
  const metadata: VersionMetadata = { fields, version: pretty, normalized, isDev, type, distType }
  return { ...metadata }
}

/** Returns stored metadata, unchecked, because only `metadataOf` creates it. */
export function readMetadata(metadata: JsonObject): VersionMetadata {
  return metadata as unknown as VersionMetadata
}
