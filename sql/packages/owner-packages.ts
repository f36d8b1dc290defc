/** Packages of an owner in all formats, each with its last version. */

import type { Knex } from 'knex'
import { foldCase } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

export interface OwnerPackage {
  readonly format: string
  readonly name: string
  /** Last uploaded version. */
  readonly version: string
  /** Time of the upload. */
  readonly createdAtMs: number
}

/** Search for packages; absent fields match every package. */
export interface OwnerPackageSearch {
  readonly ownerId: number
  readonly format?: string | undefined
  /** Part of the name. Case is ignored. */
  readonly text?: string | undefined
  /** Repository to which the package is linked. */
  readonly repositoryId?: number | undefined
}

/** Maximum number of packages that are counted, and so can be reached by pages. */
const COUNTED_MAX = 10_000

/** Returns the packages that have a version, last changed first. */
export async function listOwnerPackages(
  db: Database,
  search: OwnerPackageSearch,
  page: Page,
): Promise<Paged<OwnerPackage>> {
  const { where, bindings } = whereOf(search)
  const rows = await selectRows<OwnerPackageRow>(
    db,
    `select p.format, p.name, v.version, v.created_at from packages p
      join package_versions v on v.id =
        (select max(l.id) from package_versions l where l.package_id = p.id)
      where ${where} order by p.changed_at desc, p.id desc limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from (select p.id from packages p where ${where}
      and exists (select 1 from package_versions v where v.package_id = p.id) limit ?) counted`,
    [...bindings, COUNTED_MAX],
  )
  const entries = rows.map(({ format, name, version, created_at }) => ({
    format,
    name,
    version,
    createdAtMs: created_at,
  }))
  return { entries, total: count?.total ?? 0 }
}

interface OwnerPackageRow {
  readonly format: string
  readonly name: string
  readonly version: string
  readonly created_at: number
}

function whereOf({ ownerId, format, text = '', repositoryId }: OwnerPackageSearch): {
  readonly where: string
  readonly bindings: readonly Knex.Value[]
} {
  const clauses = ['p.owner_id = ?']
  const bindings: Knex.Value[] = [ownerId]
  if (format !== undefined) {
    clauses.push('p.format = ?')
    bindings.push(format)
  }
  if (text !== '') {
    clauses.push('instr(p.name_lower, ?) > 0')
    bindings.push(foldCase(text))
  }
  if (repositoryId !== undefined) {
    clauses.push('p.repository_id = ?')
    bindings.push(repositoryId)
  }
  return { where: clauses.join(' and '), bindings }
}
