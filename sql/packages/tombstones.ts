/** Digests of deleted files, with which immutable owners refuse other bytes at the same place. */

import { Failure } from '../../conf/failures.js'
import { foldCase } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { readOwnerSettings } from './owner-settings.js'

/**
 * Records the digests of files that are about to be deleted, if the packages of their owner are
 * immutable. Must run in the transaction of the deletion.
 */
export async function buryFiles(
  trx: Database,
  ownerId: number,
  { condition, id }: { readonly condition: 'f.id = ?' | 'f.version_id = ?'; readonly id: number },
): Promise<void> {
  if (!(await readOwnerSettings(trx, ownerId)).isImmutable) return
  const rows = await selectRows<Grave & { readonly sha256: string }>(
    trx,
    `select v.package_id, v.version_lower, f.name_lower, f.composite_key, b.sha256
      from package_files f join package_versions v on v.id = f.version_id
      join blobs b on b.id = f.blob_id where ${condition}`,
    [id],
  )
  for (const { sha256, ...place } of rows) {
    await trx('package_tombstones').where(place).delete()
    await trx('package_tombstones').insert({ ...place, sha256, removed_at: Date.now() })
  }
}

interface Grave {
  readonly package_id: number
  readonly version_lower: string
  readonly name_lower: string
  readonly composite_key: string
}

/** A file that is about to be published, with its digest. */
export interface FileToPublish {
  readonly version: string
  readonly fileName: string
  readonly compositeKey: string
  readonly sha256: string
}

/** Throws `conflict` if a file with other bytes was deleted at that place. */
export async function refuseOtherBytes(
  trx: Database,
  packageId: number,
  { version, fileName, compositeKey, sha256 }: FileToPublish,
): Promise<void> {
  const [row] = await selectRows<{ sha256: string }>(
    trx,
    `select sha256 from package_tombstones where package_id = ? and version_lower = ?
      and name_lower = ? and composite_key = ? order by id desc limit 1`,
    [packageId, foldCase(version), foldCase(fileName), compositeKey],
  )
  if (row === undefined || row.sha256 === sha256) return
  throw new Failure(
    'conflict',
    `the file ${JSON.stringify(fileName)} of the version ${JSON.stringify(version)} was deleted, ` +
      'and the packages of this owner are immutable: publish the same bytes ' +
      `(SHA-256 ${row.sha256}) or another version`,
  )
}
