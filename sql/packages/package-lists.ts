/** Versions of an owner's packages over all formats, each with its creator and its repository. */

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
  /** Absent: the package is linked to none. */
  readonly repositoryId: number | undefined
  /** Absent: the account has gone. */
  readonly creator: Owner | undefined
}

/** What is absent may be anything. */
export interface VersionSearch {
  readonly ownerId: number
  readonly format?: string | undefined
  /** A part of the package's name, in any case. */
  readonly text?: string | undefined
  /** The whole name, in any case. */
  readonly packageName?: string | undefined
  /** In any case. */
  readonly version?: string | undefined
}

/** The versions that fit, newest upload first. */
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

/** The newest upload of the versions that fit. */
export async function findNewestVersion(
  db: Database,
  search: VersionSearch,
): Promise<ListedVersion | undefined> {
  const [found] = await selectVersions(db, search, { page: 1, limit: 1 })
  return found
}

const PACKAGE_TABLES = 'packages p join package_versions v on v.package_id = p.id'

/** The page is cut from ids, which indices hold, before any row of thousands is read. */
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

/** The columns of an owner are null when the creator has gone. */
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
