/** Runners: registered programs that execute the jobs of workflows. */

import { randomUUID } from 'node:crypto'
import { Failure } from '../../conf/failures.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
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
  /** True if the runner gets no jobs. */
  readonly isDisabled: boolean
  /** True if a runner of the site takes jobs of forks of public repositories. */
  readonly runsForks: boolean
  readonly lastSeenAtMs: number | undefined
}

export interface NewRunner
  extends Pick<Runner, 'name' | 'tokenHash' | 'labels' | 'version' | 'isEphemeral'> {
  /** SHA-256 of the registration token, in lower-case hexadecimal. */
  readonly registrationHash: string
}

/** Maximum number of runners of the site, of an owner, and of a repository. */
export const RUNNERS_MAX = 200

/**
 * Creates a runner in the scope of a registration token; a token for one use is deleted. Returns
 * undefined if the token does not exist or has expired. Throws `throttled` if the scope has
 * RUNNERS_MAX runners.
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
    await refuseTooMany(trx, token)
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

async function refuseTooMany(
  trx: Database,
  { owner_id, repository_id }: Pick<RegistrationRow, 'owner_id' | 'repository_id'>,
): Promise<void> {
  const scope = { ownerId: owner_id ?? undefined, repositoryId: repository_id ?? undefined }
  if ((await countRunners(trx, scope)) < RUNNERS_MAX) return
  const message = `There are ${RUNNERS_MAX} runners of this kind, the maximum. Remove one first.`
  throw new Failure('throttled', message)
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

/**
 * Inserts a registration token. One that is not for one use replaces the earlier one of its scope;
 * tokens for one use are kept.
 */
export async function createRegistrationToken(
  db: Database,
  { hash, ownerId, repositoryId, isOnce, expiresAtMs }: NewRegistrationToken,
): Promise<void> {
  const scope = { owner_id: ownerId ?? null, repository_id: repositoryId ?? null }
  await transaction(db, async (trx) => {
    if (!isOnce) {
      await trx('runner_registration_tokens')
        .where({ ...scope, is_once: false })
        .delete()
    }
    await trx('runner_registration_tokens').insert({
      ...scope,
      hash,
      is_once: isOnce,
      created_at: Date.now(),
      expires_at: expiresAtMs ?? null,
    })
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

/** Returns the runners of a scope, by their ids. */
export async function listRunnersOf(
  db: Database,
  scope: RunnerScope,
  page: Page,
): Promise<Paged<Runner>> {
  const [condition, bindings] = ofScope(scope)
  const entries = await selectRunners(db, `${condition} order by n.id limit ? offset ?`, [
    ...bindings,
    page.limit,
    offsetOf(page),
  ])
  return { entries, total: await countRunners(db, scope) }
}

/** Returns the runner of a scope with this id. */
export async function findRunnerOf(
  db: Database,
  scope: RunnerScope,
  id: number,
): Promise<Runner | undefined> {
  const [condition, bindings] = ofScope(scope)
  const [runner] = await selectRunners(db, `${condition} and n.id = ?`, [...bindings, id])
  return runner
}

async function countRunners(db: Database, scope: RunnerScope): Promise<number> {
  const [condition, bindings] = ofScope(scope)
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from runners n where ${condition}`,
    bindings,
  )
  return Number(count?.total ?? 0)
}

/** Returns the condition for the runners of a scope itself, without those of wider scopes. */
function ofScope({
  ownerId,
  repositoryId,
}: RunnerScope): readonly [condition: string, bindings: readonly number[]] {
  const columns = [
    ['n.owner_id', ownerId],
    ['n.repository_id', repositoryId],
  ] as const
  return [
    columns
      .map(([name, id]) => (id === undefined ? `${name} is null` : `${name} = ?`))
      .join(' and '),
    columns.flatMap(([, id]) => id ?? []),
  ]
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
  readonly isDisabled?: boolean | undefined
  readonly runsForks?: boolean | undefined
  readonly lastSeenAtMs?: number | undefined
}

/** Changes a runner. */
export async function updateRunner(
  db: Database,
  id: number,
  { labels, version, isDisabled, runsForks, lastSeenAtMs }: RunnerPatch,
): Promise<void> {
  await db('runners')
    .where({ id })
    .update({
      labels: labels && JSON.stringify(labels),
      version,
      is_disabled: isDisabled,
      runs_forks: runsForks,
      last_seen_at: lastSeenAtMs,
    })
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
  n.version, n.is_ephemeral, n.is_disabled, n.runs_forks, n.last_seen_at from runners n where`

async function selectRunners(
  db: Database,
  condition: string,
  bindings: readonly (string | number)[],
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
  readonly is_disabled: number
  readonly runs_forks: number
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
    isDisabled: row.is_disabled === 1,
    runsForks: row.runs_forks === 1,
    lastSeenAtMs: row.last_seen_at ?? undefined,
  }
}
