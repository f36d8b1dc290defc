/** Sources of imported repositories, and the schedule of mirrors. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

/** Source that a repository is imported from. */
export interface NewSource {
  /** URL without credentials. */
  readonly url: string
  /** Undefined for a repository that is imported only once. */
  readonly mirror: NewMirror | undefined
}

export interface NewMirror {
  /** Time between two updates; 0 if the mirror is updated only on request. */
  readonly intervalMs: number
  /** Undefined for a source that needs no credentials. */
  readonly credentialsSealed: string | undefined
  /** True if updates fetch the wiki too. */
  readonly hasWiki: boolean
  /** Server of the objects of Git LFS that updates fetch; undefined to fetch none. */
  readonly lfs: MirrorLfs | undefined
}

export interface MirrorLfs {
  /** URL without credentials. */
  readonly url: string
  readonly credentialsSealed: string | undefined
}

/** Inserts the source of a repository, with the current time as the time of the last update. */
export async function addSource(
  db: Database,
  repositoryId: number,
  { url, mirror }: NewSource,
): Promise<void> {
  const nowMs = Date.now()
  await db('repository_sources').insert({
    repository_id: repositoryId,
    url,
    is_mirror: mirror !== undefined,
    credentials_sealed: mirror?.credentialsSealed ?? null,
    has_wiki: mirror?.hasWiki ?? false,
    lfs_url: mirror?.lfs?.url ?? null,
    lfs_credentials_sealed: mirror?.lfs?.credentialsSealed ?? null,
    interval_ms: mirror?.intervalMs ?? 0,
    synced_at: nowMs,
    next_at: nextAfter(nowMs, mirror?.intervalMs ?? 0),
  })
}

/** Data that an update of a mirror needs. */
export interface MirrorSource extends NewMirror {
  readonly url: string
}

/**
 * Returns the source of a mirror; undefined if the repository is not a mirror or does not exist.
 */
export async function findMirror(
  db: Database,
  repositoryId: number,
): Promise<MirrorSource | undefined> {
  const [row] = await selectRows<MirrorRow>(
    db,
    `select url, credentials_sealed, interval_ms, has_wiki, lfs_url, lfs_credentials_sealed
      from repository_sources where repository_id = ? and is_mirror = 1`,
    [repositoryId],
  )
  if (row === undefined) return undefined
  const { url, lfs_url: lfsUrl, lfs_credentials_sealed: lfsSealed } = row
  return {
    url,
    intervalMs: row.interval_ms,
    credentialsSealed: row.credentials_sealed ?? undefined,
    hasWiki: row.has_wiki === 1,
    lfs: lfsUrl === null ? undefined : { url: lfsUrl, credentialsSealed: lfsSealed ?? undefined },
  }
}

interface MirrorRow {
  readonly url: string
  readonly credentials_sealed: string | null
  readonly interval_ms: number
  readonly has_wiki: number
  readonly lfs_url: string | null
  readonly lfs_credentials_sealed: string | null
}

/** Returns the ids of due mirrors, longest overdue first. */
export async function listDueMirrors(db: Database, limit: number): Promise<readonly number[]> {
  const rows = await selectRows<{ repository_id: number }>(
    db,
    `select repository_id from repository_sources
      where next_at <= ? and is_mirror = 1 order by next_at, repository_id limit ?`,
    [Date.now(), limit],
  )
  return rows.map((row) => row.repository_id)
}

/**
 * Records an attempt to update a mirror, and schedules the next one after the interval, also if the
 * attempt failed.
 */
export async function noteMirrorTry(
  db: Database,
  repositoryId: number,
  { intervalMs, hasSucceeded }: { readonly intervalMs: number; readonly hasSucceeded: boolean },
): Promise<void> {
  const nowMs = Date.now()
  await mirror(db, repositoryId).update({
    next_at: nextAfter(nowMs, intervalMs),
    ...(hasSucceeded ? { synced_at: nowMs } : {}),
  })
}

/** Sets the update interval of a mirror. Does nothing if the repository is not a mirror. */
export async function setMirrorInterval(
  db: Database,
  repositoryId: number,
  intervalMs: number,
): Promise<void> {
  await mirror(db, repositoryId).update({
    interval_ms: intervalMs,
    next_at: nextAfter(Date.now(), intervalMs),
  })
}

function mirror(db: Database, repositoryId: number) {
  return db('repository_sources').where({ repository_id: repositoryId, is_mirror: true })
}

function nextAfter(nowMs: number, intervalMs: number): number | null {
  return intervalMs === 0 ? null : nowMs + intervalMs
}
