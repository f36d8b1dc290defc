/** Versions of packages, with their metadata and files. */

import type { Knex } from 'knex'
import type { FullVersion, PackageFile, PackageVersion } from '../../conf/package.js'
import { foldCase } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { FILE_COLUMNS, type FileRow, fileOf } from './package-files.js'

/** Returns the versions of a package, last uploaded first. */
export async function listVersions(
  db: Database,
  packageId: number,
): Promise<readonly PackageVersion[]> {
  const rows = await selectRows<VersionRow>(
    db,
    `select ${VERSION_COLUMNS} from package_versions v where v.package_id = ? order by v.id desc`,
    [packageId],
  )
  return rows.map(versionOf)
}

/** Returns the versions of a package with metadata and files, last uploaded first. */
export async function listFullVersions(
  db: Database,
  packageId: number,
): Promise<readonly FullVersion[]> {
  return await selectFullVersions(db, 'v.package_id = ?', [packageId])
}

/** Returns a version of a package. Case is ignored. */
export async function findVersion(
  db: Database,
  packageId: number,
  version: string,
): Promise<FullVersion | undefined> {
  const bindings = [packageId, foldCase(version)]
  const [found] = await selectFullVersions(db, 'v.package_id = ? and v.version_lower = ?', bindings)
  return found
}

async function selectFullVersions(
  db: Database,
  where: string,
  bindings: readonly Knex.RawBinding[],
): Promise<readonly FullVersion[]> {
  const files = await selectRows<FileRow & { readonly version_id: number }>(
    db,
    `select ${FILE_COLUMNS}, v.id as version_id from package_versions v
      join package_files f on f.version_id = v.id join blobs b on b.id = f.blob_id
      where ${where} order by f.id`,
    bindings,
  )
  const filesOf = new Map<number, PackageFile[]>()
  for (const row of files) {
    const known = filesOf.get(row.version_id)
    if (known === undefined) filesOf.set(row.version_id, [fileOf(row)])
    else known.push(fileOf(row))
  }
  const rows = await selectRows<FullVersionRow>(
    db,
    `select ${VERSION_COLUMNS}, v.metadata as version_metadata from package_versions v
      where ${where} order by v.id desc`,
    bindings,
  )
  return rows.flatMap((row) => {
    const files = filesOf.get(row.version_id)
    // A version that was uploaded between the two queries is left out.
    if (files === undefined) return []
    return [{ ...versionOf(row), metadata: JSON.parse(row.version_metadata), files }]
  })
}

const VERSION_COLUMNS = `v.id as version_id, v.version as version_version,
  v.created_at as version_created_at`

interface VersionRow {
  readonly version_id: number
  readonly version_version: string
  readonly version_created_at: number
}

interface FullVersionRow extends VersionRow {
  readonly version_metadata: string
}

function versionOf(row: VersionRow): PackageVersion {
  return {
    id: row.version_id,
    version: row.version_version,
    createdAtMs: row.version_created_at,
  }
}
