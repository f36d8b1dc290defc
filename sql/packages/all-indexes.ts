/** Walks over the package indexes of a site, for the consistency checks. */

import type { PackageFormat } from '../../conf/package.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { RowPage } from '../database/page.js'
import { touchIndex } from './package-indexes.js'

export interface StoredIndex {
  readonly id: number
  readonly ownerId: number
  readonly ownerName: string
  readonly format: PackageFormat
  readonly subject: string
  readonly wanted: number
  readonly built: number
  readonly hasEntries: boolean
}

/** Returns up to `limit` indexes with ids above `afterId`, ordered by id. */
export async function listAllIndexes(
  db: Database,
  { afterId, limit }: RowPage,
): Promise<readonly StoredIndex[]> {
  const rows = await selectRows<Omit<StoredIndex, 'hasEntries'> & { hasEntries: number }>(
    db,
    `select i.id as id, i.owner_id as ownerId, o.name as ownerName, i.format as format,
      i.subject as subject, i.wanted as wanted, i.built as built,
      case when exists (select 1 from package_index_entries e where e.index_id = i.id)
        then 1 else 0 end as hasEntries
      from package_indexes i join owners o on o.id = i.owner_id
      where i.id > ? order by i.id limit ?`,
    [afterId, limit],
  )
  return rows.map((row) => ({ ...row, hasEntries: row.hasEntries === 1 }))
}

/** Schedules a build of an index from its entries alone, without pieces of the stored files. */
export async function rebuildIndex(
  db: Database,
  { id, wanted, layoutPath }: Pick<StoredIndex, 'id' | 'wanted'> & { readonly layoutPath: string },
): Promise<void> {
  await transaction(db, async (trx) => {
    await trx('package_index_files').where({ index_id: id, path: layoutPath }).delete()
    await touchIndex(trx, { id, wanted })
  })
}
