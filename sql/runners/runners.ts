/** Runners: registered programs that execute the jobs of workflows. */

import { randomUUID } from 'node:crypto'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { RunnerScope } from '../runs/run-jobs.js'

export interface Runner extends RunnerScope {
  readonly id: number
  readonly uuid: string
  readonly name: string
  /** SHA-256 of the runner's token, in lower-case hexadecimal. */
  readonly tokenHash: string
  readonly labels: readonly string[]
  readonly version: string
  /** True if the runner executes one task and is deleted afterwards. */
  readonly isEphemeral: boolean
  readonly lastSeenAtMs: number | undefined
}

export interface NewRunner
  extends Pick<Runner, 'name' | 'tokenHash' | 'labels' | 'version' | 'isEphemeral'> {
  /** SHA-256 of the registration token, in lower-case hexadecimal. */
  readonly registrationHash: string
}

/**
 * Creates a runner in the scope of a registration token; a token for one use is deleted. Returns
 * undefined if the token does not exist or has expired.
 */
export async function registerRunner(
  db: Database,
  { registrationHash, ...runner }: NewRunner,
): Promise<Runner | undefined> {
  // Any client can send wrong tokens, which must not take the lock of SQLite's only writer.
  const known = await selectRows<{ id: number }>(
    db,
    'select g.id from runner_registration_tokens g where g.hash = ?',
    [checkText(registrationHash)],
  )
  if (known.length === 0) return undefined
  return await transaction(db, async (trx) => {
    const token: RegistrationRow | undefined = await trx('runner_registration_tokens')
      .where({ hash: checkText(registrationHash) })
      .forUpdate()
      .first('id', 'owner_id', 'repository_id', 'is_once', 'expires_at')
    const nowMs = Date.now()
    if (token === undefined || (token.expires_at ?? nowMs + 1) <= nowMs) return undefined
    if (token.is_once === 1)
      await trx('runner_registration_tokens').where({ id: token.id }).delete()
    const uuid = randomUUID()
    await trx('runners').insert({
      uuid,
      name: runner.name,
      owner_id: token.owner_id,
      repository_id: token.repository_id,
      token_hash: runner.tokenHash,
      labels: JSON.stringify(runner.labels),
      version: runner.version,
      is_ephemeral: runner.isEphemeral,
      created_at: nowMs,
      last_seen_at: null,
    })
    return await findRunner(trx, uuid)
  })
}

interface RegistrationRow {
  readonly id: number
  readonly owner_id: number | null
  readonly repository_id: number | null
  readonly is_once: number
  readonly expires_at: number | null
}

export interface NewRegistrationToken extends RunnerScope {
  /** SHA-256 of the token, in lower-case hexadecimal. */
  readonly hash: string
  readonly isOnce: boolean
  /** Undefined if the token does not expire. */
  readonly expiresAtMs: number | undefined
}

/** Inserts a registration token. */
export async function createRegistrationToken(
  db: Database,
  { hash, ownerId, repositoryId, isOnce, expiresAtMs }: NewRegistrationToken,
): Promise<void> {
  await db('runner_registration_tokens').insert({
    hash,
    owner_id: ownerId ?? null,
    repository_id: repositoryId ?? null,
    is_once: isOnce,
    created_at: Date.now(),
    expires_at: expiresAtMs ?? null,
  })
}

/** Returns a runner by its UUID. */
export async function findRunner(db: Database, uuid: string): Promise<Runner | undefined> {
  const [runner] = await selectRunners(db, 'n.uuid = ?', [checkText(uuid)])
  return runner
}

/** Returns all runners, by their ids. */
export async function listRunners(db: Database): Promise<readonly Runner[]> {
  return await selectRunners(db, '1 = 1 order by n.id', [])
}

/** Returns the names of runners by their ids. */
export async function findRunnerNames(
  db: Database,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await selectRows<{ id: number; name: string }>(
    db,
    `select n.id, n.name from runners n where n.id in (${ids.map(() => '?').join()})`,
    ids,
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Changes of a runner; absent fields keep their value. */
export interface RunnerPatch {
  readonly labels?: readonly string[] | undefined
  readonly version?: string | undefined
  readonly lastSeenAtMs?: number | undefined
}

/** Changes a runner. */
export async function updateRunner(
  db: Database,
  id: number,
  { labels, version, lastSeenAtMs }: RunnerPatch,
): Promise<void> {
  await db('runners')
    .where({ id })
    .update({ labels: labels && JSON.stringify(labels), version, last_seen_at: lastSeenAtMs })
}

/** Deletes a runner. Returns false if there is none with that UUID. */
export async function removeRunner(db: Database, uuid: string): Promise<boolean> {
  return (
    (await db('runners')
      .where({ uuid: checkText(uuid) })
      .delete()) > 0
  )
}

const SELECT = `select n.id, n.uuid, n.name, n.owner_id, n.repository_id, n.token_hash, n.labels,
  n.version, n.is_ephemeral, n.last_seen_at from runners n where`

async function selectRunners(
  db: Database,
  condition: string,
  bindings: readonly string[],
): Promise<readonly Runner[]> {
  return (await selectRows<RunnerRow>(db, `${SELECT} ${condition}`, bindings)).map(runnerOf)
}

interface RunnerRow {
  readonly id: number
  readonly uuid: string
  readonly name: string
  readonly owner_id: number | null
  readonly repository_id: number | null
  readonly token_hash: string
  readonly labels: string
  readonly version: string
  readonly is_ephemeral: number
  readonly last_seen_at: number | null
}

function runnerOf(row: RunnerRow): Runner {
  return {
    id: row.id,
    uuid: row.uuid,
    name: row.name,
    ownerId: row.owner_id ?? undefined,
    repositoryId: row.repository_id ?? undefined,
    tokenHash: row.token_hash,
    labels: JSON.parse(row.labels),
    version: row.version,
    isEphemeral: row.is_ephemeral === 1,
    lastSeenAtMs: row.last_seen_at ?? undefined,
  }
}
