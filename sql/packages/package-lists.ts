/** Versions of an owner's packages in all formats, with creators and linked repositories. */

import type { Knex } from 'knex'
import type { PackageVersion } from '../../conf/package.js'
import { OWNER_COLUMNS, type Owner, type OwnerRow, ownerOf } from '../accounts/owners.js'
import { foldCase } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

export interface ListedVersion extends PackageVersion {
  readonly format: string
  readonly packageName: string
  /** Undefined if the package is not linked. */
  readonly repositoryId: number | undefined
  /** Undefined if the account was deleted. */
  readonly creator: Owner | undefined
}

/** Search for versions; absent fields match every version. */
export interface VersionSearch {
  readonly ownerId: number
  readonly format?: string | undefined
  /** Part of the package name. Case is ignored. */
  readonly text?: string | undefined
  /** Whole package name. Case is ignored. */
  readonly packageName?: string | undefined
  /** Version. Case is ignored. */
  readonly version?: string | undefined
}

/**
 * Number of matches of a search for names up to which they are sorted. For more of them, it is
 * cheaper to read the owner's versions in the order of the list until the page is full.
 */
const SORTED_MAX = 1_000

/** Returns the versions that match the search, last uploaded first. */
export async function listOwnerVersions(
  db: Database,
  search: VersionSearch,
  page: Page,
): Promise<Paged<ListedVersion>> {
  const isByName = conditionsOf(search).length > 0
  const isPlaced = !(await hasVersionsWithoutOwner(db))
  const counted = sourceOf(search, isPlaced && !isByName ? 'versions' : 'packages')
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from ${counted.from}`,
    counted.bindings,
  )
  const total = count?.total ?? 0
  const isOrdered = isPlaced && (!isByName || total > SORTED_MAX)
  const listed = sourceOf(search, isOrdered ? 'versions' : 'packages')
  return { entries: await selectVersions(db, listed, page), total }
}

/** Returns the last uploaded version that matches the search. */
export async function findNewestVersion(
  db: Database,
  search: VersionSearch,
): Promise<ListedVersion | undefined> {
  const source = sourceOf(search, 'packages')
  const [found] = await selectVersions(db, source, { page: 1, limit: 1 })
  return found
}

/** Sets the owners of versions that workers of the previous release have added. */
export async function setVersionOwners(db: Database): Promise<void> {
  await db.raw(
    `update package_versions set
      owner_id = (select p.owner_id from packages p where p.id = package_id),
      format = (select p.format from packages p where p.id = package_id)
      where owner_id is null`,
  )
}

/** True if a worker of the previous release has added versions, until the next daily sweep. */
async function hasVersionsWithoutOwner(db: Database): Promise<boolean> {
  const sql = 'select v.id from package_versions v where v.owner_id is null limit 1'
  return (await selectRows(db, sql)).length > 0
}

/**
 * The subquery selects the page by id from indexes, before any of possibly thousands of rows is
 * read.
 */
async function selectVersions(
  db: Database,
  { from, bindings }: Source,
  page: Page,
): Promise<readonly ListedVersion[]> {
  const rows = await selectRows<ListedRow>(
    db,
    `select v.id, v.version, v.created_at, v.creator_id, p.format, p.name, p.repository_id,
      ${OWNER_COLUMNS} from (
        select v.id from ${from} order by v.id desc limit ? offset ?
      ) listed
      join package_versions v on v.id = listed.id join packages p on p.id = v.package_id
      left join owners o on o.id = v.creator_id order by v.id desc`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return rows.map(listedOf)
}

/** Tables and conditions of a search. */
interface Source {
  readonly from: string
  readonly bindings: readonly Knex.Value[]
}

/** Returns the source that finds the owner's versions by the index of that table. */
function sourceOf(search: VersionSearch, table: 'versions' | 'packages'): Source {
  const { ownerId, format } = search
  const alias = table === 'versions' ? 'v' : 'p'
  const names = conditionsOf(search)
  const conditions = [{ clause: `${alias}.owner_id = ?`, value: ownerId }, ...names]
  if (format !== undefined) conditions.push({ clause: `${alias}.format = ?`, value: format })
  const where = conditions.map(({ clause }) => clause).join(' and ')
  const bindings = conditions.map(({ value }) => value)
  return { from: `${tablesOf(table, names.length > 0)} where ${where}`, bindings }
}

function tablesOf(table: 'versions' | 'packages', isByName: boolean): string {
  if (table === 'packages') return 'packages p join package_versions v on v.package_id = p.id'
  return isByName
    ? 'package_versions v join packages p on p.id = v.package_id'
    : 'package_versions v'
}

interface Condition {
  readonly clause: string
  readonly value: string | number
}

/** Returns the conditions on names of packages and versions. */
function conditionsOf({ text, packageName, version }: VersionSearch): readonly Condition[] {
  const conditions: Condition[] = []
  const add = (clause: string, name: string | undefined) => {
    if (name !== undefined) conditions.push({ clause, value: foldCase(name) })
  }
  add('instr(p.name_lower, ?) > 0', text === '' ? undefined : text)
  add('p.name_lower = ?', packageName)
  add('v.version_lower = ?', version)
  return conditions
}

/** Row of a version; the columns of the owner are null if the creator was deleted. */
interface ListedRow extends OwnerRow {
  readonly id: number
  readonly version: string
  readonly created_at: number
  readonly creator_id: number | null
  readonly format: string
  readonly name: string
  readonly repository_id: number | null
}

function listedOf(row: ListedRow): ListedVersion {
  return {
    id: row.id,
    version: row.version,
    createdAtMs: row.created_at,
    format: row.format,
    packageName: row.name,
    repositoryId: row.repository_id ?? undefined,
    creator: row.creator_id === null ? undefined : ownerOf(row),
  }
}
