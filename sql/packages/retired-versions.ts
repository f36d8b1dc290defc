/**
 * Versions that a cleanup rule has removed. No index and no list has them, but their files can be
 * read for a while, by clients that read an index before the removal.
 */

import type { FullVersion, Package, PackageFile } from '../../conf/package.js'
import { foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { BLOB_COLUMNS, type BlobRow, blobOf } from './blobs.js'
import type { PackageFileName } from './package-files.js'
import { type PackageNamespace, touchPackage } from './packages.js'

/** Copies versions with their files. Must run in the transaction that deletes them. */
export async function copyToRetired(trx: Database, versionIds: readonly number[]): Promise<void> {
  const marks = versionIds.map(() => '?').join(', ')
  await trx.raw(
    `insert into package_retired_versions
      (id, package_id, version, version_lower, metadata, created_at, retired_at)
      select v.id, v.package_id, v.version, v.version_lower, v.metadata, v.created_at, ?
      from package_versions v where v.id in (${marks})`,
    [Date.now(), ...versionIds],
  )
  await trx.raw(
    `insert into package_retired_files
      (id, version_id, name, name_lower, composite_key, blob_id, created_at)
      select f.id, f.version_id, f.name, f.name_lower, f.composite_key, f.blob_id, f.created_at
      from package_files f where f.version_id in (${marks})`,
    [...versionIds],
  )
}

/** Returns the package with that name, if a version of it was retired since then. */
export async function findRetiredPackage(
  db: Database,
  { ownerId, format }: PackageNamespace,
  { name, sinceMs }: { readonly name: string; readonly sinceMs: number },
): Promise<Package | undefined> {
  const [row] = await selectRows<{ id: number; name: string; generation: number; changed: number }>(
    db,
    `select p.id, p.name, p.generation, p.changed_at as changed from packages p
      where p.owner_id = ? and p.format = ? and p.name_lower = ? and exists (
        select 1 from package_retired_versions v where v.package_id = p.id and v.retired_at >= ?)`,
    [ownerId, format, foldCase(name), sinceMs],
  )
  if (row === undefined) return undefined
  const { id, generation, changed: changedAtMs } = row
  return { id, name: row.name, generation, changedAtMs }
}

/** Returns the version of a package that was last retired since then. Case is ignored. */
export async function findRetiredVersion(
  db: Database,
  packageId: number,
  { version, sinceMs }: { readonly version: string; readonly sinceMs: number },
): Promise<FullVersion | undefined> {
  const [row] = await selectRows<VersionRow>(
    db,
    `select v.id, v.version, v.metadata, v.created_at from package_retired_versions v
      where v.package_id = ? and v.version_lower = ? and v.retired_at >= ?
      order by v.id desc limit 1`,
    [packageId, foldCase(version), sinceMs],
  )
  if (row === undefined) return undefined
  const files = await selectRows<FileRow>(
    db,
    `select ${FILE_COLUMNS} from package_retired_files f join blobs b on b.id = f.blob_id
      where f.version_id = ? order by f.id`,
    [row.id],
  )
  return {
    id: row.id,
    version: row.version,
    createdAtMs: row.created_at,
    metadata: JSON.parse(row.metadata),
    files: files.map(fileOf),
  }
}

interface VersionRow {
  readonly id: number
  readonly version: string
  readonly metadata: string
  readonly created_at: number
}

/** Returns the file with that name that was last retired since then. Case is ignored. */
export async function findRetiredFile(
  db: Database,
  { ownerId, format }: PackageNamespace,
  { name, sinceMs }: { readonly name: PackageFileName; readonly sinceMs: number },
): Promise<PackageFile | undefined> {
  const { packageName, version, fileName, compositeKey } = name
  const [row] = await selectRows<FileRow>(
    db,
    `select ${FILE_COLUMNS} from packages p
      join package_retired_versions v on v.package_id = p.id
      join package_retired_files f on f.version_id = v.id join blobs b on b.id = f.blob_id
      where p.owner_id = ? and p.format = ? and p.name_lower = ? and v.version_lower = ?
      and v.retired_at >= ? and f.name_lower = ?
      ${compositeKey === undefined ? '' : 'and f.composite_key = ?'} order by f.id desc limit 1`,
    [
      ownerId,
      format,
      foldCase(packageName),
      foldCase(version),
      sinceMs,
      foldCase(fileName),
      ...(compositeKey === undefined ? [] : [compositeKey]),
    ],
  )
  return row === undefined ? undefined : fileOf(row)
}

const FILE_COLUMNS = `f.id as file_id, f.name as file_name, f.composite_key as file_composite_key,
  f.created_at as file_created_at, ${BLOB_COLUMNS}`

interface FileRow extends BlobRow {
  readonly file_id: number
  readonly file_name: string
  readonly file_composite_key: string
  readonly file_created_at: number
}

/** Converts a row of FILE_COLUMNS. Downloads of retired files are not counted. */
function fileOf(row: FileRow): PackageFile {
  return {
    id: row.file_id,
    name: row.file_name,
    compositeKey: row.file_composite_key,
    ...blobOf(row),
    createdAtMs: row.file_created_at,
    downloads: 0,
  }
}

/** Place of retired files: of a package, of a version of it, or of a name in the version. */
export interface RetiredPlace {
  readonly packageName: string
  readonly version?: string
  readonly fileName?: string
  /** Undefined for files with any composite key. */
  readonly compositeKey?: string
}

/**
 * Deletes retired files, and their versions unless the place names a file. Returns true if there
 * were any.
 */
export async function forgetRetired(
  db: Database,
  { ownerId, format }: PackageNamespace,
  { packageName, version, fileName, compositeKey }: RetiredPlace,
): Promise<boolean> {
  const conditions = [
    ['v.version_lower = ?', version === undefined ? undefined : foldCase(version)],
    ['f.name_lower = ?', fileName === undefined ? undefined : foldCase(fileName)],
    ['f.composite_key = ?', compositeKey],
  ] as const
  const wanted = conditions.filter(([, value]) => value !== undefined)
  return await transaction(db, async (trx) => {
    const rows = await selectRows<{ file_id: number; version_id: number; package_id: number }>(
      trx,
      `select f.id as file_id, v.id as version_id, p.id as package_id from packages p
        join package_retired_versions v on v.package_id = p.id
        join package_retired_files f on f.version_id = v.id
        where p.owner_id = ? and p.format = ? and p.name_lower = ?
        ${wanted.map(([condition]) => `and ${condition}`).join(' ')}`,
      [ownerId, format, foldCase(packageName), ...wanted.map(([, value]) => value ?? '')],
    )
    const [first] = rows
    if (first === undefined) return false
    await touchPackage(trx, first.package_id)
    for (const { file_id, version_id } of rows) {
      if (fileName !== undefined) await trx('package_retired_files').where({ id: file_id }).delete()
      else await trx('package_retired_versions').where({ id: version_id }).delete()
    }
    return true
  })
}

const BATCH = 200

/** Deletes the versions that were retired before that time. Returns their number. */
export async function deleteRetired(
  db: Database,
  beforeMs: number,
  signal?: AbortSignal,
): Promise<number> {
  for (let deleted = 0; ; ) {
    if (signal?.aborted) return deleted
    const rows = await selectRows<{ id: number; package_id: number }>(
      db,
      `select id, package_id from package_retired_versions where retired_at < ? order by id limit ?`,
      [beforeMs, BATCH],
    )
    await transaction(db, async (trx) => {
      // Documents of the versions are cached under the generation of the package.
      const packageIds = new Set(rows.map((row) => row.package_id))
      for (const id of [...packageIds].sort((a, b) => a - b)) await touchPackage(trx, id)
      for (const { id } of rows) await trx('package_retired_versions').where({ id }).delete()
    })
    deleted += rows.length
    if (rows.length < BATCH) return deleted
  }
}
