/** Settings of an owner: immutable packages and quotas; and what the packages use. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

/** Limits of all packages of an owner; undefined for no limit. */
export interface Quota {
  readonly versionsMax: number | undefined
  /** Limit of the total size of all files, which counts shared bytes for each file. */
  readonly bytesMax: number | undefined
}

/** Quotas of one owner: null for that of the configuration, UNLIMITED for no limit. */
export interface OwnQuota {
  readonly versionsMax: number | null
  readonly bytesMax: number | null
  /** Limit of the total size of the LFS objects of the owner's repositories. */
  readonly lfsBytesMax: number | null
}

export interface OwnerSettings {
  /** True if deleted files cannot be published again with other bytes. */
  readonly isImmutable: boolean
  readonly quota: OwnQuota
}

export const UNLIMITED = -1

const DEFAULTS: OwnerSettings = {
  isImmutable: false,
  quota: { versionsMax: null, bytesMax: null, lfsBytesMax: null },
}

/** Returns the settings of an owner. */
export async function readOwnerSettings(db: Database, ownerId: number): Promise<OwnerSettings> {
  const [row] = await selectRows<SettingsRow>(
    db,
    `select is_immutable, versions_max, bytes_max, lfs_bytes_max
      from package_owner_settings where owner_id = ?`,
    [ownerId],
  )
  if (row === undefined) return DEFAULTS
  return {
    isImmutable: row.is_immutable === 1,
    quota: {
      versionsMax: row.versions_max,
      bytesMax: row.bytes_max,
      lfsBytesMax: row.lfs_bytes_max,
    },
  }
}

interface SettingsRow {
  readonly is_immutable: number
  readonly versions_max: number | null
  readonly bytes_max: number | null
  readonly lfs_bytes_max: number | null
}

/** Switches the immutability of an owner's packages. */
export async function setImmutable(
  db: Database,
  ownerId: number,
  isImmutable: boolean,
): Promise<void> {
  await save(db, ownerId, { is_immutable: isImmutable ? 1 : 0 })
}

/** Sets the quotas of an owner; absent fields are not changed. */
export async function setOwnQuota(
  db: Database,
  ownerId: number,
  { versionsMax, bytesMax, lfsBytesMax }: Partial<OwnQuota>,
): Promise<void> {
  await save(db, ownerId, {
    ...(versionsMax === undefined ? {} : { versions_max: versionsMax }),
    ...(bytesMax === undefined ? {} : { bytes_max: bytesMax }),
    ...(lfsBytesMax === undefined ? {} : { lfs_bytes_max: lfsBytesMax }),
  })
}

async function save(db: Database, ownerId: number, changes: Partial<SettingsRow>): Promise<void> {
  const columns = Object.keys(changes)
  if (columns.length === 0) return
  const none = { versions_max: null, bytes_max: null, lfs_bytes_max: null }
  const row = { is_immutable: 0, ...none, ...changes }
  await db('package_owner_settings')
    .insert({ owner_id: ownerId, ...row })
    .onConflict('owner_id')
    .merge(columns)
}

/** Returns the quota that applies: the owner's own, or that of the configuration. */
export function quotaOf({ quota }: OwnerSettings, configured: Quota): Quota {
  return {
    versionsMax: limitOf(quota.versionsMax, configured.versionsMax),
    bytesMax: limitOf(quota.bytesMax, configured.bytesMax),
  }
}

/** Returns the limit that applies; undefined for none. */
export function limitOf(own: number | null, configured: number | undefined): number | undefined {
  if (own === null) return configured
  return own === UNLIMITED ? undefined : own
}

/** Number and size of the packages of an owner. */
export interface Usage {
  readonly versions: number
  /** Total size of all files; shared bytes count for each file. */
  readonly bytes: number
}

/** Returns the usage of an owner, as quotas count it. */
export async function readUsage(db: Database, ownerId: number): Promise<Usage> {
  return { versions: await countVersions(db, ownerId), bytes: await sumBytes(db, ownerId) }
}

/** Returns the number of versions of an owner's packages. */
export async function countVersions(db: Database, ownerId: number): Promise<number> {
  const [row] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from packages p
      join package_versions v on v.package_id = p.id where p.owner_id = ?`,
    [ownerId],
  )
  return Number(row?.total ?? 0)
}

/** Returns the total size of the files of an owner's packages. */
export async function sumBytes(db: Database, ownerId: number): Promise<number> {
  const [row] = await selectRows<{ total: number }>(
    db,
    `select coalesce(sum(b.bytes), 0) as total from packages p
      join package_versions v on v.package_id = p.id
      join package_files f on f.version_id = v.id join blobs b on b.id = f.blob_id
      where p.owner_id = ?`,
    [ownerId],
  )
  return Number(row?.total ?? 0)
}
