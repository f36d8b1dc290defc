/** Files of package versions, and their download counts. */

import type { PackageFile } from '../../conf/package.js'
import { foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { RowPage } from '../database/page.js'
import { BLOB_COLUMNS, type BlobRow, blobOf } from './blobs.js'
import { addDailyDownloads } from './package-downloads.js'
import type { PackageNamespace } from './packages.js'

export interface PackageFileName {
  readonly packageName: string
  readonly version: string
  readonly fileName: string
  /** Undefined for files with any composite key. */
  readonly compositeKey?: string
}

/** File with the ids of its package and version. */
export interface PlacedFile extends PackageFile {
  readonly packageId: number
  readonly versionId: number
}

/** Returns the file with that name, or the oldest one if several match. Case is ignored. */
export async function findFile(
  db: Database,
  { ownerId, format }: PackageNamespace,
  name: PackageFileName,
): Promise<PlacedFile | undefined> {
  const bindings = [
    ownerId,
    format,
    foldCase(name.packageName),
    foldCase(name.version),
    foldCase(name.fileName),
  ]
  if (name.compositeKey !== undefined) bindings.push(name.compositeKey)
  const [row] = await selectRows<FileRow & { package_id: number; version_id: number }>(
    db,
    name.compositeKey === undefined ? SELECT_FILE : SELECT_FILE_BY_KEY,
    bindings,
  )
  if (row === undefined) return undefined
  return { ...fileOf(row), packageId: row.package_id, versionId: row.version_id }
}

/** Versions in one query: SQLite refuses conditions with more than 1,000 levels. */
const VERSIONS_PER_QUERY = 100

/** Returns the id of the oldest file of each version that exists. Case is ignored. */
export async function listFirstFileIds(
  db: Database,
  { ownerId, format }: PackageNamespace,
  versions: ReadonlyArray<Pick<PackageFileName, 'packageName' | 'version'>>,
): Promise<readonly number[]> {
  const ids = new Set<number>()
  for (let from = 0; from < versions.length; from += VERSIONS_PER_QUERY) {
    const some = versions.slice(from, from + VERSIONS_PER_QUERY)
    const either = some.map(() => '(p.name_lower = ? and v.version_lower = ?)').join(' or ')
    const rows = await selectRows<{ id: number }>(
      db,
      `select min(f.id) as id from packages p
        join package_versions v on v.package_id = p.id join package_files f on f.version_id = v.id
        where p.owner_id = ? and p.format = ? and (${either}) group by v.id`,
      [
        ownerId,
        format,
        ...some.flatMap(({ packageName, version }) => [foldCase(packageName), foldCase(version)]),
      ],
    )
    for (const { id } of rows) ids.add(id)
  }
  return [...ids]
}

/** Adds to the download counts in one transaction; maps the id of a file to the added number. */
export async function addDownloads(
  db: Database,
  downloads: ReadonlyMap<number, number>,
): Promise<void> {
  if (downloads.size === 0) return
  await transaction(db, async (trx) => {
    for (const [fileId, count] of downloads) {
      await trx('package_files').where({ id: fileId }).increment('downloads', count)
    }
    await addDailyDownloads(trx, downloads)
  })
}

/** Columns of a file, selected from the aliases `f` for the file and `b` for its blob. */
export const FILE_COLUMNS = `f.id as file_id, f.name as file_name,
  f.composite_key as file_composite_key, f.downloads as file_downloads,
  f.created_at as file_created_at, ${BLOB_COLUMNS}`

// Built once, because the text is the key of the query cache.
const SELECT_FILE = selectFile('')
const SELECT_FILE_BY_KEY = selectFile('and f.composite_key = ?')

function selectFile(condition: string): string {
  return `select ${FILE_COLUMNS}, v.package_id as package_id, v.id as version_id from packages p
    join package_versions v on v.package_id = p.id
    join package_files f on f.version_id = v.id join blobs b on b.id = f.blob_id
    where p.owner_id = ? and p.format = ? and p.name_lower = ? and v.version_lower = ?
    and f.name_lower = ? ${condition} order by f.id limit 1`
}

export interface FileRow extends BlobRow {
  readonly file_id: number
  readonly file_name: string
  readonly file_composite_key: string
  readonly file_downloads: number
  readonly file_created_at: number
}

/** Converts a row of FILE_COLUMNS. */
export function fileOf(row: FileRow): PackageFile {
  return {
    id: row.file_id,
    name: row.file_name,
    compositeKey: row.file_composite_key,
    ...blobOf(row),
    createdAtMs: row.file_created_at,
    downloads: row.file_downloads,
  }
}

/** Ids of a file's row and the names of the tables that lack a row for it. */
export interface IncompleteFile {
  readonly id: number
  readonly name: string
  readonly lacks: string
}

/** Returns files with ids above `afterId` that lack a version, a package or a blob. */
export async function listIncompleteFiles(
  db: Database,
  { afterId, limit }: RowPage,
): Promise<readonly IncompleteFile[]> {
  return await selectRows<IncompleteFile>(
    db,
    `select f.id as id, f.name as name, case when v.id is null then 'version'
      when p.id is null then 'package' else 'blob' end as lacks from package_files f
      left join package_versions v on v.id = f.version_id
      left join packages p on p.id = v.package_id left join blobs b on b.id = f.blob_id
      where f.id > ? and (v.id is null or p.id is null or b.id is null) order by f.id limit ?`,
    [afterId, limit],
  )
}
