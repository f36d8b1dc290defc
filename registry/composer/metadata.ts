/** What is kept of a version, so that documents can be made of it later. */

import type { JsonObject } from '../../conf/package.js'
import type { ComposerJson } from './composer-json.js'
import type { PackageArchive } from './package-archive.js'
import type { ComposerVersion } from './version.js'

export interface VersionMetadata {
  /** All that its composer.json says, without its version. */
  readonly fields: ComposerJson['fields']
  readonly version: ComposerVersion['pretty']
  readonly normalized: ComposerVersion['normalized']
  readonly isDev: ComposerVersion['isDev']
  readonly type: ComposerJson['type']
  readonly distType: PackageArchive['distType']
}

/** As the database is to keep it. */
export function metadataOf(
  { composerJson, distType }: PackageArchive,
  { pretty, normalized, isDev }: ComposerVersion,
): JsonObject {
  const { fields, type } = composerJson
  const metadata: VersionMetadata = { fields, version: pretty, normalized, isDev, type, distType }
  return { ...metadata }
}

/** As `metadataOf` gave it to the database. */
export function readMetadata(metadata: JsonObject): VersionMetadata {
  return metadata as unknown as VersionMetadata
}
