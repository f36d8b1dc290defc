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

/** Returns the versions that match the search, last uploaded first. */
export async function listOwnerVersions(
  db: Database,
  search: VersionSearch,
  page: Page,
): Promise<Paged<ListedVersion>> {
  const { where, bindings } = whereOf(search)
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from ${PACKAGE_TABLES} where ${where}`,
    bindings,
  )
  return { entries: await selectVersions(db, search, page), total: count?.total ?? 0 }
}

/** Returns the last uploaded version that matches the search. */
export async function findNewestVersion(
  db: Database,
  search: VersionSearch,
): Promise<ListedVersion | undefined> {
  const [found] = await selectVersions(db, search, { page: 1, limit: 1 })
  return found
}

const PACKAGE_TABLES = 'packages p join package_versions v on v.package_id = p.id'

/**
 * The subquery selects the page by id from indexes, before any of possibly thousands of rows is
 * read.
 */
async function selectVersions(
  db: Database,
  search: VersionSearch,
  page: Page,
): Promise<readonly ListedVersion[]> {
  const { where, bindings } = whereOf(search)
  const rows = await selectRows<ListedRow>(
    db,
    `select v.id, v.version, v.created_at, v.creator_id, p.format, p.name, p.repository_id,
      ${OWNER_COLUMNS} from (
        select v.id from ${PACKAGE_TABLES} where ${where} order by v.id desc limit ? offset ?
      ) listed
      join package_versions v on v.id = listed.id join packages p on p.id = v.package_id
      left join owners o on o.id = v.creator_id order by v.id desc`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return rows.map(listedOf)
}

function whereOf({ ownerId, format, text, packageName, version }: VersionSearch): {
  readonly where: string
  readonly bindings: readonly Knex.Value[]
} {
  const clauses = [
    ['p.owner_id = ?', ownerId],
    ['p.format = ?', format],
    ['instr(p.name_lower, ?) > 0', text === undefined || text === '' ? undefined : foldCase(text)],
    ['p.name_lower = ?', packageName === undefined ? undefined : foldCase(packageName)],
    ['v.version_lower = ?', version === undefined ? undefined : foldCase(version)],
  ] as const
  const wanted = clauses.flatMap(([clause, value]) =>
    value === undefined ? [] : [{ clause, value }],
  )
  return {
    where: wanted.map(({ clause }) => clause).join(' and '),
    bindings: wanted.map(({ value }) => value),
  }
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
