/** Push mirrors: repositories on other servers to which the refs of a repository are pushed. */

import { Failure } from '../../conf/failures.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

export interface PushMirror {
  readonly id: number
  readonly repositoryId: number
  /** Name by which the API addresses the mirror. */
  readonly remoteName: string
  /** URL without credentials. */
  readonly url: string
  /** Undefined for a server that needs no credentials. */
  readonly credentialsSealed: string | undefined
  /** Time between two pushes; 0 if there are none at intervals. */
  readonly intervalMs: number
  /** True if each push to the repository is followed by one to the mirror. */
  readonly syncsOnPush: boolean
  readonly createdAtMs: number
  /** Time of the last push, also of one that failed. */
  readonly triedAtMs: number | undefined
  /** Reason why the last push failed; empty if it succeeded. */
  readonly lastError: string
}

export type NewPushMirror = Omit<PushMirror, 'id' | 'createdAtMs' | 'triedAtMs' | 'lastError'>

/** A push of the repository may start one to each mirror. */
const MIRRORS_MAX = 20

/** Inserts a push mirror. Throws `invalid` if the repository has too many of them. */
export async function addPushMirror(db: Database, mirror: NewPushMirror): Promise<void> {
  await transaction(db, async (trx) => {
    const [found] = await selectRows<{ total: number }>(
      trx,
      'select count(*) as total from push_mirrors where repository_id = ?',
      [mirror.repositoryId],
    )
    if ((found?.total ?? 0) >= MIRRORS_MAX) {
      throw new Failure('invalid', `A repository can have at most ${MIRRORS_MAX} push mirrors.`)
    }
    const nowMs = Date.now()
    await trx('push_mirrors').insert({
      repository_id: mirror.repositoryId,
      remote_name: mirror.remoteName,
      url: mirror.url,
      credentials_sealed: mirror.credentialsSealed ?? null,
      interval_ms: mirror.intervalMs,
      syncs_on_push: mirror.syncsOnPush,
      created_at: nowMs,
      tried_at: null,
      last_error: '',
      next_at: nextAfter(nowMs, mirror.intervalMs),
    })
  })
}

/** Deletes a push mirror. Returns false if the repository has none with that name. */
export async function deletePushMirror(
  db: Database,
  repositoryId: number,
  remoteName: string,
): Promise<boolean> {
  const place = { repository_id: repositoryId, remote_name: checkText(remoteName) }
  return (await db('push_mirrors').where(place).delete()) > 0
}

const COLUMNS = `id, repository_id, remote_name, url, credentials_sealed, interval_ms,
  syncs_on_push, created_at, tried_at, last_error`

/** Returns the push mirrors of a repository, oldest first. */
export async function listPushMirrors(
  db: Database,
  repositoryId: number,
): Promise<readonly PushMirror[]> {
  const rows = await selectRows<PushMirrorRow>(
    db,
    `select ${COLUMNS} from push_mirrors where repository_id = ? order by id`,
    [repositoryId],
  )
  return rows.map(mirrorOf)
}

/** Returns the push mirror with that id; undefined if there is none. */
export async function findPushMirrorById(
  db: Database,
  id: number,
): Promise<PushMirror | undefined> {
  const [row] = await selectRows<PushMirrorRow>(
    db,
    `select ${COLUMNS} from push_mirrors where id = ?`,
    [id],
  )
  return row && mirrorOf(row)
}

/** Returns the ids of a repository's mirrors that are pushed to after each push. */
export async function listMirrorsOnPush(
  db: Database,
  repositoryId: number,
): Promise<readonly number[]> {
  const rows = await selectRows<{ id: number }>(
    db,
    'select id from push_mirrors where repository_id = ? and syncs_on_push = 1 order by id',
    [repositoryId],
  )
  return rows.map(({ id }) => id)
}

/** Returns the ids of due push mirrors, longest overdue first. */
export async function listDuePushMirrors(db: Database, limit: number): Promise<readonly number[]> {
  const rows = await selectRows<{ id: number }>(
    db,
    'select id from push_mirrors where next_at <= ? order by next_at, id limit ?',
    [Date.now(), limit],
  )
  return rows.map(({ id }) => id)
}

const ERROR_CHARACTERS_MAX = 1_000

/**
 * Records a push to a mirror and its error, which is empty after a success. The next push at
 * intervals follows after the interval, also if this one failed.
 */
export async function notePushMirrorTry(
  db: Database,
  { id, intervalMs }: Pick<PushMirror, 'id' | 'intervalMs'>,
  error: string,
): Promise<void> {
  const nowMs = Date.now()
  await db('push_mirrors')
    .where({ id })
    .update({
      tried_at: nowMs,
      next_at: nextAfter(nowMs, intervalMs),
      last_error: error.slice(0, ERROR_CHARACTERS_MAX),
    })
}

function nextAfter(nowMs: number, intervalMs: number): number | null {
  return intervalMs === 0 ? null : nowMs + intervalMs
}

interface PushMirrorRow {
  readonly id: number
  readonly repository_id: number
  readonly remote_name: string
  readonly url: string
  readonly credentials_sealed: string | null
  readonly interval_ms: number
  readonly syncs_on_push: number
  readonly created_at: number
  readonly tried_at: number | null
  readonly last_error: string
}

function mirrorOf(row: PushMirrorRow): PushMirror {
  return {
    id: row.id,
    repositoryId: row.repository_id,
    remoteName: row.remote_name,
    url: row.url,
    credentialsSealed: row.credentials_sealed ?? undefined,
    intervalMs: row.interval_ms,
    syncsOnPush: row.syncs_on_push === 1,
    createdAtMs: row.created_at,
    triedAtMs: row.tried_at ?? undefined,
    lastError: row.last_error,
  }
}
