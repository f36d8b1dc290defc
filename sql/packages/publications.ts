/** Publication and removal of files, each in one transaction. */

import { Failure } from '../../conf/failures.js'
import type { JsonObject } from '../../conf/package.js'
import { foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { isMysql, selectRows } from '../database/dialect.js'
import { isReferenceViolation, orConflict } from '../database/errors.js'
import { type NewBlob, placeBlob } from './blobs.js'
import { type CleanupRule, isCurrentRule, sumVersionBytes } from './cleanup-rules.js'
import {
  countVersions,
  type Quota,
  quotaOf,
  readOwnerSettings,
  sumBytes,
  type Usage,
} from './owner-settings.js'
import { findFile, type PackageFileName } from './package-files.js'
import {
  addToIndexes,
  ensureIndexes,
  type NewIndexEntry,
  removeFromIndexes,
} from './package-indexes.js'
import { ensurePackage, findPackage, type PackageNamespace, touchPackage } from './packages.js'
import { placeReadme } from './readmes.js'
import { copyToRetired } from './retired-versions.js'
import { buryFiles, refuseOtherBytes } from './tombstones.js'

export interface NewPublication {
  readonly packageName: string
  /**
   * True if names are case-sensitive: a package whose name differs only in case is then a conflict.
   */
  readonly isExactName: boolean
  readonly version: string
  readonly fileName: string
  readonly compositeKey: string
  /** Unit that can be uploaded only once. */
  readonly unique: 'version' | 'file'
  readonly metadata: JsonObject
  /** README in Markdown, unless the version has one. */
  readonly readme?: string | undefined
  readonly properties: ReadonlyArray<{ readonly name: string; readonly value: string }>
  /** Entries for the indexes of the file. */
  readonly indexes: readonly NewIndexEntry[]
  /** User who publishes. */
  readonly creatorId: number
  /** Repository of the job that publishes: it publishes to packages of its repository only. */
  readonly repositoryId?: number | undefined
  /** Limits of the configuration, which those of the owner replace; undefined for no limits. */
  readonly quota: Quota | undefined
}

export const VERSION_EXISTS = 'package version already exists'
export const FILE_EXISTS = 'package file already exists'
const QUOTA_EXCEEDED = 'maximum allowed package storage quota exceeded'
const COUNT_EXCEEDED = 'maximum allowed package count exceeded'

const ACCOUNT_DELETED = 'The owner of the package or the publishing user does not exist any more.'

const TRIES_MAX = 5

/**
 * Publishes a file whose blob is stored already. Returns the storage key of its bytes, which is
 * another one if they were stored before. Throws `conflict` if the version or file exists, or if
 * the owner's packages are immutable and the file was deleted with other bytes, `forbidden` if a
 * quota of the owner is exceeded, and `not_found` if an account was deleted meanwhile.
 */
export async function publishFile(
  db: Database,
  namespace: PackageNamespace,
  { publication, blob }: { readonly publication: NewPublication; readonly blob: NewBlob },
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const placedId = isMysql(db) ? await placePackage(db, namespace, publication) : undefined
      const key = await transaction(db, async (trx) => {
        const packageId = placedId ?? (await placePackage(trx, namespace, publication))
        if (!(await touchPackage(trx, packageId))) return undefined
        await placeLink(trx, packageId, publication)
        await placeName(trx, packageId, publication)
        const settings = await readOwnerSettings(trx, namespace.ownerId)
        if (settings.isImmutable) {
          await refuseOtherBytes(trx, packageId, { ...publication, sha256: blob.digests.sha256 })
        }
        const quota = publication.quota && quotaOf(settings, publication.quota)
        if (quota !== undefined) await refuseTooMuch(trx, namespace.ownerId, quota, blob.bytes)
        const place = { ...namespace, packageId, publication }
        const { id: versionId, isNew } = await placeVersion(trx, place)
        if (isNew && quota !== undefined) await refuseTooMany(trx, namespace.ownerId, quota)
        await placeReadme(trx, versionId, publication.readme)
        const kept = await placeBlob(trx, blob)
        const fileId = await placeFile(trx, { versionId, blobId: kept.id, publication })
        await addToIndexes(trx, namespace, { fileId, entries: publication.indexes })
        return kept.key
      })
      if (key !== undefined) return key
    } catch (error) {
      // The package or an unused blob was deleted concurrently.
      if (!isReferenceViolation(error)) throw error
      if (attempt === TRIES_MAX) throw new Failure('not_found', ACCOUNT_DELETED, { cause: error })
    }
  }
}

/**
 * Creates the package and its indexes if they do not exist. On MySQL outside of the transaction,
 * because two transactions that lock a missing row would wait for each other. SQLite has one
 * writer, and a second commit would flush its file once more.
 */
async function placePackage(
  db: Database,
  namespace: PackageNamespace,
  { packageName, indexes }: NewPublication,
): Promise<number> {
  await ensureIndexes(db, namespace, indexes)
  return await ensurePackage(db, namespace, packageName)
}

/**
 * Sets the spelling of the name, which the first upload determines, as does the next upload after
 * all versions were deleted.
 */
async function placeName(
  trx: Database,
  packageId: number,
  { packageName, isExactName }: NewPublication,
): Promise<void> {
  const hasVersion = trx('package_versions').where({ package_id: packageId })
  const place = trx('packages').where({ id: packageId })
  await place.clone().whereNotExists(hasVersion).update({ name: packageName })
  if (!isExactName) return
  const { name } = await place.clone().first('name')
  if (name !== packageName) {
    const known = JSON.stringify(name)
    throw new Failure(
      'conflict',
      `a package ${known} already exists: its name differs only in case`,
    )
  }
}

async function refuseTooMuch(
  trx: Database,
  ownerId: number,
  { bytesMax, versionsMax }: Quota,
  bytes: number,
): Promise<void> {
  if (bytesMax === undefined && versionsMax === undefined) return
  // Serializes uploads of an owner, so that concurrent ones cannot exceed the quota together.
  await trx('owners').where({ id: ownerId }).forUpdate().first('id')
  if (bytesMax === undefined) return
  const total = await sumBytes(trx, ownerId)
  if (total + bytes > bytesMax) throw new Failure('forbidden', QUOTA_EXCEEDED)
}

/** Refuses the version that this transaction has inserted, if there are too many with it. */
async function refuseTooMany(
  trx: Database,
  ownerId: number,
  { versionsMax }: Quota,
): Promise<void> {
  if (versionsMax === undefined || (await countVersions(trx, ownerId)) <= versionsMax) return
  throw new Failure('forbidden', COUNT_EXCEEDED)
}

interface VersionPlace extends PackageNamespace {
  readonly packageId: number
  readonly publication: NewPublication
}

async function placeVersion(
  trx: Database,
  place: VersionPlace,
): Promise<{ readonly id: number; readonly isNew: boolean }> {
  const { packageId, publication } = place
  const versionLower = foldCase(publication.version)
  if (publication.unique === 'file') {
    const [row] = await selectRows<{ id: number }>(
      trx,
      'select id from package_versions where package_id = ? and version_lower = ?',
      [packageId, versionLower],
    )
    if (row !== undefined) return { id: row.id, isNew: false }
  }
  const [id] = await orConflict(VERSION_EXISTS, () =>
    trx('package_versions').insert({
      package_id: packageId,
      owner_id: place.ownerId,
      format: place.format,
      version: publication.version,
      version_lower: versionLower,
      creator_id: publication.creatorId,
      metadata: JSON.stringify(publication.metadata),
      created_at: Date.now(),
    }),
  )
  if (id === undefined) throw new Error('The insert returned no id.')
  for (const { name, value } of publication.properties) {
    await trx('package_properties').insert({ version_id: id, name, value })
  }
  return { id, isNew: true }
}

interface FilePlace {
  readonly versionId: number
  readonly blobId: number
  readonly publication: NewPublication
}

async function placeFile(trx: Database, place: FilePlace): Promise<number> {
  const { versionId, blobId, publication } = place
  const [id] = await orConflict(FILE_EXISTS, () =>
    trx('package_files').insert({
      version_id: versionId,
      name: publication.fileName,
      name_lower: foldCase(publication.fileName),
      composite_key: publication.compositeKey,
      blob_id: blobId,
      downloads: 0,
      created_at: Date.now(),
    }),
  )
  if (id === undefined) throw new Error('The insert returned no id.')
  return id
}

/** Deletes a file, and its version after the last file. Returns false if there is no such file. */
export async function removeFile(
  db: Database,
  namespace: PackageNamespace,
  name: PackageFileName,
): Promise<boolean> {
  const found = await findFile(db, namespace, name)
  if (found === undefined) return false
  return await transaction(db, async (trx) => {
    if (!(await touchPackage(trx, found.packageId))) return false
    await removeFromIndexes(trx, 'f.id = ?', found.id)
    await buryFiles(trx, namespace.ownerId, { condition: 'f.id = ?', id: found.id })
    if ((await trx('package_files').where({ id: found.id }).delete()) === 0) return false
    const [left] = await selectRows(
      trx,
      'select 1 from package_files where version_id = ? limit 1',
      [found.versionId],
    )
    if (left === undefined) await trx('package_versions').where({ id: found.versionId }).delete()
    return true
  })
}

/** Deletes a version with all of its files. Returns false if there is no such version. */
export async function removeVersion(
  db: Database,
  namespace: PackageNamespace,
  { packageName, version }: { readonly packageName: string; readonly version: string },
): Promise<boolean> {
  const found = await findPackage(db, namespace, packageName)
  if (found === undefined) return false
  return await transaction(db, async (trx) => {
    if (!(await touchPackage(trx, found.id))) return false
    const place = { package_id: found.id, version_lower: foldCase(version) }
    return (await dropVersions(trx, namespace.ownerId, place)) > 0
  })
}

/**
 * Links a new package to the repository of the job that publishes it. Throws `forbidden` if the
 * package has versions and is not linked to that repository. The row of the package is locked.
 */
async function placeLink(
  trx: Database,
  packageId: number,
  { packageName, repositoryId }: Pick<NewPublication, 'packageName' | 'repositoryId'>,
): Promise<void> {
  if (repositoryId === undefined) return
  const row: { repository_id: number | null } | undefined = await trx('packages')
    .where({ id: packageId })
    .first('repository_id')
  if (row?.repository_id === repositoryId) return
  const versions = await selectRows(
    trx,
    'select v.id from package_versions v where v.package_id = ? limit 1',
    [packageId],
  )
  if (versions.length > 0) {
    const message = `The package ${packageName} is not linked to the repository of this job.`
    throw new Failure('forbidden', message)
  }
  await trx('packages').where({ id: packageId }).update({ repository_id: repositoryId })
}

/**
 * Deletes the versions of a package, or those with ids up to `lastId`. With the last one, the
 * package loses its link. Returns false if there are none.
 */
export async function removePackage(
  db: Database,
  namespace: PackageNamespace,
  { packageName, lastId }: { readonly packageName: string; readonly lastId?: number },
): Promise<boolean> {
  const found = await findPackage(db, namespace, packageName)
  if (found === undefined) return false
  return await transaction(db, async (trx) => {
    // The row is kept, so that generations keep increasing if the name is used again.
    if (!(await touchPackage(trx, found.id))) return false
    const dropped = await dropVersions(trx, namespace.ownerId, { package_id: found.id }, lastId)
    const [left] = await selectRows(
      trx,
      'select 1 from package_versions where package_id = ? limit 1',
      [found.id],
    )
    if (left === undefined) {
      await trx('packages').where({ id: found.id }).update({ repository_id: null })
    }
    return dropped > 0
  })
}

/** Versions of one package that a cleanup rule removes. */
export interface VersionsToRetire {
  readonly packageId: number
  readonly versionIds: readonly number[]
  readonly rule: Pick<CleanupRule, 'id' | 'revision'>
}

/**
 * Removes versions for a cleanup rule. Lists and indexes lack them from the commit on; their files
 * stay readable for a while, for clients that have read an index before. Returns what was removed,
 * which lacks versions that were deleted meanwhile; undefined, without any change, if the rule was
 * changed, disabled or deleted.
 */
export async function retireVersions(
  db: Database,
  namespace: PackageNamespace,
  { packageId, versionIds, rule }: VersionsToRetire,
): Promise<Usage | undefined> {
  return await transaction(db, async (trx) => {
    if (!(await touchPackage(trx, packageId))) return { versions: 0, bytes: 0 }
    if (!(await isCurrentRule(trx, rule))) return undefined
    const rows: ReadonlyArray<{ id: number }> = await trx('package_versions')
      .where({ package_id: packageId })
      .whereIn('id', [...versionIds])
      .select('id')
    const ids = rows.map(({ id }) => id)
    const bytes = await sumVersionBytes(trx, ids)
    if (ids.length > 0) await copyToRetired(trx, ids)
    return { versions: await dropListed(trx, namespace.ownerId, ids), bytes }
  })
}

/** Deletes versions with their files and index entries. Returns the number of versions. */
async function dropVersions(
  trx: Database,
  ownerId: number,
  where: { readonly package_id: number; readonly version_lower?: string },
  lastId?: number,
): Promise<number> {
  const rows: ReadonlyArray<{ id: number }> = await trx('package_versions')
    .where(where)
    .select('id')
  const ids = rows.map(({ id }) => id)
  const wanted = lastId === undefined ? ids : ids.filter((id) => id <= lastId)
  return await dropListed(trx, ownerId, wanted)
}

async function dropListed(
  trx: Database,
  ownerId: number,
  versionIds: readonly number[],
): Promise<number> {
  for (const id of versionIds) {
    await removeFromIndexes(trx, 'f.version_id = ?', id)
    await buryFiles(trx, ownerId, { condition: 'f.version_id = ?', id })
    await trx('package_versions').where({ id }).delete()
  }
  return versionIds.length
}
