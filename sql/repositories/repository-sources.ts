/** Where repositories were taken over from, and which of them keep following their source. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

/** What a repository was taken over from. */
export interface NewSource {
  /** Without credentials. */
  readonly url: string
  /** Absent for one that was taken over once and goes its own way. */
  readonly mirror: NewMirror | undefined
}

export interface NewMirror {
  /** Between two updates; 0 for none but those that somebody asks for. */
  readonly intervalMs: number
  /** Absent for a source that everybody may read. */
  readonly credentialsSealed: string | undefined
}

/** Notes where a repository was taken over from, just now. */
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
    interval_ms: mirror?.intervalMs ?? 0,
    synced_at: nowMs,
    next_at: nextAfter(nowMs, mirror?.intervalMs ?? 0),
  })
}

/** What is needed to update a mirror. */
export interface MirrorSource {
  readonly url: string
  readonly credentialsSealed: string | undefined
  readonly intervalMs: number
}

/** The source of a mirror; undefined for a repository that is none, or is gone. */
export async function findMirror(
  db: Database,
  repositoryId: number,
): Promise<MirrorSource | undefined> {
  const [row] = await selectRows<MirrorRow>(
    db,
    `select url, credentials_sealed, interval_ms from repository_sources
      where repository_id = ? and is_mirror = 1`,
    [repositoryId],
  )
  if (row === undefined) return undefined
  const { url, credentials_sealed: credentialsSealed, interval_ms: intervalMs } = row
  return { url, intervalMs, credentialsSealed: credentialsSealed ?? undefined }
}

interface MirrorRow {
  readonly url: string
  readonly credentials_sealed: string | null
  readonly interval_ms: number
}

/** The mirrors whose time has come, longest waiting first. */
export async function listDueMirrors(db: Database, limit: number): Promise<readonly number[]> {
  const rows = await selectRows<{ repository_id: number }>(
    db,
    `select repository_id from repository_sources
      where next_at <= ? and is_mirror = 1 order by next_at, repository_id limit ?`,
    [Date.now(), limit],
  )
  return rows.map((row) => row.repository_id)
}

/** A mirror was tried: the next time is an interval away, and so it is when this one failed. */
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

/** Sets how often a mirror is updated; of another repository, nothing. */
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
