/** Packages of an owner: lookup, search, and the generation that invalidates documents. */

import type { Knex } from 'knex'
import type { JsonObject, Package, PackageVersion } from '../../conf/package.js'
import { foldCase } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'

/** Packages of one owner in one format. */
export interface PackageNamespace {
  readonly ownerId: number
  readonly format: string
}

/** Returns the package with that name, if it has a version. Case is ignored. */
export async function findPackage(
  db: Database,
  { ownerId, format }: PackageNamespace,
  name: string,
): Promise<Package | undefined> {
  const [row] = await selectRows<PackageRow>(
    db,
    `select ${PACKAGE_COLUMNS} from packages p
      where p.owner_id = ? and p.format = ? and p.name_lower = ?
      and exists (select 1 from package_versions v where v.package_id = p.id)`,
    [ownerId, format, foldCase(name)],
  )
  return row === undefined ? undefined : packageOf(row)
}

/** Returns the id of the package with that name. Creates the package if it does not exist. */
export async function ensurePackage(
  db: Database,
  { ownerId, format }: PackageNamespace,
  name: string,
): Promise<number> {
  for (;;) {
    const [row] = await selectRows<{ id: number }>(
      db,
      'select id from packages where owner_id = ? and format = ? and name_lower = ?',
      [ownerId, format, foldCase(name)],
    )
    if (row !== undefined) return row.id
    const nowMs = Date.now()
    try {
      await db('packages').insert({
        owner_id: ownerId,
        format,
        name,
        name_lower: foldCase(name),
        repository_id: null,
        generation: 0,
        changed_at: nowMs,
        created_at: nowMs,
      })
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
    }
  }
}

/**
 * Records a change of the package in this transaction and locks its row, so that concurrent changes
 * wait. Returns false if the package does not exist.
 */
export async function touchPackage(trx: Database, packageId: number): Promise<boolean> {
  const nowMs = Date.now()
  const changes = {
    generation: trx.raw('generation + 1'),
    // Always later than the previous value, even if the clock was set back: otherwise a client that
    // revalidates would be answered that nothing has changed.
    changed_at: trx.raw('case when changed_at < ? then ? else changed_at + 1000 end', [
      nowMs,
      nowMs,
    ]),
  }
  return (await trx('packages').where({ id: packageId }).update(changes)) > 0
}

export interface PackageSearch extends PackageNamespace {
  /** Part of the name. Case is ignored. */
  readonly text?: string
  /** Property that a version of the package must have with exactly this value. */
  readonly property?: { readonly name: string; readonly value: string }
  readonly limit?: number
  readonly offset?: number
}

export interface FoundPackage extends Package {
  readonly downloads: number
  /** Last uploaded version. */
  readonly latest: PackageVersion & { readonly metadata: JsonObject }
}

/**
 * Returns the packages with a version that match the search, ordered by name, and their total
 * number.
 */
export async function searchPackages(
  db: Database,
  search: PackageSearch,
): Promise<{ readonly packages: readonly FoundPackage[]; readonly total: number }> {
  const { where, bindings } = whereOf(search)
  const { limit = ALL_ROWS, offset = 0 } = search
  const rows = await selectRows<FoundRow>(
    db,
    `select ${PACKAGE_COLUMNS}, v.id as version_id, v.version as version_version,
      v.created_at as version_created_at, v.metadata as version_metadata,
      (select coalesce(sum(f.downloads), 0) from package_files f
        join package_versions d on d.id = f.version_id where d.package_id = p.id) as downloads
      from packages p join package_versions v on v.id = ${LATEST}
      where ${where} order by p.name_lower limit ? offset ?`,
    [...bindings, limit, offset],
  )
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from packages p where ${where} and ${LATEST} is not null`,
    bindings,
  )
  return { packages: rows.map(foundOf), total: count?.total ?? 0 }
}

const ALL_ROWS = 1_000_000_000

const LATEST = '(select max(l.id) from package_versions l where l.package_id = p.id)'

function whereOf({ ownerId, format, text, property }: PackageSearch): {
  readonly where: string
  readonly bindings: readonly Knex.Value[]
} {
  const clauses = ['p.owner_id = ?', 'p.format = ?']
  const bindings: Knex.Value[] = [ownerId, format]
  if (text !== undefined && text !== '') {
    clauses.push('instr(p.name_lower, ?) > 0')
    bindings.push(foldCase(text))
  }
  if (property !== undefined) {
    clauses.push(`p.id in (select w.package_id from package_properties q
      join package_versions w on w.id = q.version_id where q.name = ? and q.value = ?)`)
    bindings.push(property.name, property.value)
  }
  return { where: clauses.join(' and '), bindings }
}

const PACKAGE_COLUMNS = `p.id as package_id, p.name as package_name,
  p.generation as package_generation, p.changed_at as package_changed_at`

interface PackageRow {
  readonly package_id: number
  readonly package_name: string
  readonly package_generation: number
  readonly package_changed_at: number
}

interface FoundRow extends PackageRow {
  readonly version_id: number
  readonly version_version: string
  readonly version_created_at: number
  readonly version_metadata: string
  readonly downloads: number
}

function packageOf(row: PackageRow): Package {
  return {
    id: row.package_id,
    name: row.package_name,
    generation: row.package_generation,
    changedAtMs: row.package_changed_at,
  }
}

function foundOf(row: FoundRow): FoundPackage {
  return {
    ...packageOf(row),
    downloads: Number(row.downloads),
    latest: {
      id: row.version_id,
      version: row.version_version,
      createdAtMs: row.version_created_at,
      metadata: JSON.parse(row.version_metadata),
    },
  }
}

/** Deletes the packages of an owner that have no versions, before the owner is deleted. */
export async function deleteEmptyPackages(db: Database, ownerId: number): Promise<void> {
  await db('packages')
    .where({ owner_id: ownerId })
    .whereNotExists(db('package_versions').whereRaw('package_versions.package_id = packages.id'))
    .delete()
}
