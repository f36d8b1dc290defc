/** Quotas of the LFS objects that an owner's repositories have. */

import { Failure } from '../../conf/failures.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { limitOf } from '../packages/owner-settings.js'

/** Limits of the configuration. */
export interface LfsLimits {
  /** Maximum total size of the objects of an owner's repositories; undefined for no limit. */
  readonly ownerBytesMax: number | undefined
}

/** Limit that applies to an owner: its own one, or that of the configuration. */
export interface LfsQuota {
  readonly ownerId: number
  /** Undefined for no limit. */
  readonly bytesMax: number | undefined
}

/** Returns the quota of the owner of a repository. */
export async function lfsQuotaOf(
  db: Database,
  repositoryId: number,
  limits: LfsLimits,
): Promise<LfsQuota> {
  const [row] = await selectRows<QuotaRow>(
    db,
    `select r.owner_id, s.lfs_bytes_max from repositories r
      left join package_owner_settings s on s.owner_id = r.owner_id where r.id = ?`,
    [repositoryId],
  )
  return quotaOfRow(row, row?.owner_id ?? 0, limits)
}

/** Returns the quota of an owner. */
export async function lfsQuotaOfOwner(
  db: Database,
  ownerId: number,
  limits: LfsLimits,
): Promise<LfsQuota> {
  const [row] = await selectRows<QuotaRow>(
    db,
    'select owner_id, lfs_bytes_max from package_owner_settings where owner_id = ?',
    [ownerId],
  )
  return quotaOfRow(row, ownerId, limits)
}

interface QuotaRow {
  readonly owner_id: number
  readonly lfs_bytes_max: number | null
}

function quotaOfRow(row: QuotaRow | undefined, ownerId: number, limits: LfsLimits): LfsQuota {
  return { ownerId, bytesMax: limitOf(row?.lfs_bytes_max ?? null, limits.ownerBytesMax) }
}

/** Throws `insufficient_storage` if the owner's objects and these bytes exceed the quota. */
export async function refuseBeyondQuota(
  db: Database,
  { ownerId, bytesMax }: LfsQuota,
  bytes: number,
): Promise<void> {
  if (bytesMax === undefined || bytes === 0) return
  const used = await sumLfsBytes(db, ownerId)
  if (used + bytes <= bytesMax) return
  throw new Failure(
    'insufficient_storage',
    `The LFS objects of the owner's repositories have ${used} bytes. These objects of ${bytes} ` +
      `bytes would exceed the quota of ${bytesMax} bytes. Delete a repository, or ask an ` +
      'administrator to raise the quota.',
  )
}

/** Returns the total size of the objects; an object counts in each repository that has it. */
export async function sumLfsBytes(db: Database, ownerId: number): Promise<number> {
  const [row] = await selectRows<{ total: number }>(
    db,
    `select coalesce(sum(l.bytes), 0) as total from lfs_objects l
      join repositories r on r.id = l.repository_id where r.owner_id = ?`,
    [ownerId],
  )
  return Number(row?.total ?? 0)
}
