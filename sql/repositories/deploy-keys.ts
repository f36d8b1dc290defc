/** Deploy keys: SSH keys of machines, each for the repositories that it was added to. */

import { Failure } from '../../conf/failures.js'
import type { SshKey } from '../../conf/ssh-key.js'
import { insertKey, KEY_TAKEN } from '../accounts/keys.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

/** A key in one repository; the same key in another one has an id, title and mode of its own. */
export interface DeployKey {
  readonly id: number
  /** Of the key itself, the same in all repositories. */
  readonly keyId: number
  readonly repositoryId: number
  readonly title: string
  readonly mode: 'read' | 'write'
  readonly key: SshKey
  readonly createdAtMs: number
}

export type NewDeployKey = Pick<DeployKey, 'repositoryId' | 'title' | 'mode' | 'key'>

/**
 * Lets a key into a repository. Throws `invalid` when a user signs in with that key, or when the
 * repository has that key or title already, and `not_found` when the repository has gone.
 */
export async function addDeployKey(db: Database, wanted: NewDeployKey): Promise<DeployKey> {
  const createdAtMs = Date.now()
  return await transaction(db, async (trx) => {
    if (!(await lockRepository(trx, wanted.repositoryId))) {
      throw new Failure('not_found', 'The repository does not exist.')
    }
    const keyId = await shareKey(trx, wanted.key, createdAtMs)
    const id = await insertDeployKey(trx, wanted, { keyId, createdAtMs })
    return { ...wanted, id, keyId, createdAtMs }
  })
}

/** Whether the repository is there; if so, nobody else removes it or its keys meanwhile. */
async function lockRepository(trx: Database, repositoryId: number): Promise<boolean> {
  const row = await trx('repositories').where({ id: repositoryId }).forUpdate().first('id')
  return row !== undefined
}

/** The id of the key, which other repositories may have already. */
async function shareKey(trx: Database, key: SshKey, createdAtMs: number): Promise<number> {
  try {
    const columns = { user_id: null, title: null, comment: null, created_at: createdAtMs }
    return await insertKey(trx, key, columns)
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    const row: { id: number; user_id: number | null } | undefined = await trx('ssh_keys')
      .where({ fingerprint: key.fingerprint })
      .forUpdate()
      .first('id', 'user_id')
    if (row === undefined || row.user_id !== null) {
      throw new Failure('invalid', KEY_TAKEN, { cause: error })
    }
    return row.id
  }
}

async function insertDeployKey(
  trx: Database,
  { repositoryId, title, mode, key }: NewDeployKey,
  { keyId, createdAtMs }: Pick<DeployKey, 'keyId' | 'createdAtMs'>,
): Promise<number> {
  try {
    const [id] = await trx('deploy_keys').insert({
      repository_id: repositoryId,
      key_id: keyId,
      title,
      comment: key.comment,
      mode,
      created_at: createdAtMs,
    })
    if (id === undefined) throw new Error('the database gave no id')
    return id
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    const isThere = (await deployKeyAccess(trx, keyId, repositoryId)) !== 'none'
    throw new Failure(
      'invalid',
      isThere
        ? 'This key has already been added to this repository'
        : 'A key with the same name already exists',
      { cause: error },
    )
  }
}

/** What the key itself may do with the repository. */
export async function deployKeyAccess(
  db: Database,
  keyId: number,
  repositoryId: number,
): Promise<DeployKey['mode'] | 'none'> {
  const [row] = await selectRows<{ mode: DeployKey['mode'] }>(
    db,
    'select mode from deploy_keys where repository_id = ? and key_id = ?',
    [repositoryId, keyId],
  )
  return row?.mode ?? 'none'
}

export interface DeployKeyQuery {
  readonly page: Page
  readonly fingerprint?: string | undefined
  /** Of the key itself. */
  readonly keyId?: number | undefined
}

/** The keys of a repository, oldest first. */
export async function listDeployKeys(
  db: Database,
  repositoryId: number,
  { page, fingerprint, keyId }: DeployKeyQuery,
): Promise<Paged<DeployKey>> {
  const where = `where d.repository_id = ? and (? is null or k.fingerprint = ?)
    and (? is null or d.key_id = ?)`
  const [print, id] = [fingerprint ?? null, keyId ?? null]
  const bindings = [repositoryId, print, print, id, id]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from ${DEPLOY_KEY_TABLES} ${where}`,
    bindings,
  )
  const rows = await selectRows<DeployKeyRow>(
    db,
    `${SELECT_DEPLOY_KEYS} ${where} order by d.id limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(deployKeyOf), total: count?.total ?? 0 }
}

/** One key of a repository. */
export async function findDeployKey(
  db: Database,
  repositoryId: number,
  deployKeyId: number,
): Promise<DeployKey | undefined> {
  const [row] = await selectRows<DeployKeyRow>(
    db,
    `${SELECT_DEPLOY_KEYS} where d.id = ? and d.repository_id = ?`,
    [deployKeyId, repositoryId],
  )
  return row === undefined ? undefined : deployKeyOf(row)
}

/** Takes a key out of a repository. Returns whether there was one. */
export async function removeDeployKey(
  db: Database,
  repositoryId: number,
  deployKeyId: number,
): Promise<boolean> {
  const where = { repository_id: repositoryId, id: deployKeyId }
  return await transaction(db, (trx) => removeWhere(trx, where))
}

/** Takes all keys out of a repository, in the transaction that removes it. */
export async function removeDeployKeys(trx: Database, repositoryId: number): Promise<void> {
  await removeWhere(trx, { repository_id: repositoryId })
}

/** A key that opens nothing any more goes as well, so that it may become a user's. */
async function removeWhere(
  trx: Database,
  where: { readonly repository_id: number; readonly id?: number },
): Promise<boolean> {
  await lockRepository(trx, where.repository_id)
  const rows: readonly { key_id: number }[] = await trx('deploy_keys').where(where).select('key_id')
  await trx('deploy_keys').where(where).delete()
  await trx('ssh_keys')
    .whereIn(
      'id',
      rows.map((row) => row.key_id),
    )
    .whereNotExists(trx('deploy_keys').whereRaw('deploy_keys.key_id = ssh_keys.id').select('id'))
    .delete()
  return rows.length > 0
}

const DEPLOY_KEY_TABLES = 'deploy_keys d join ssh_keys k on k.id = d.key_id'

const SELECT_DEPLOY_KEYS = `select d.id, d.key_id, d.repository_id, d.title, d.mode, d.comment,
  d.created_at, k.algorithm, k.base64, k.fingerprint from ${DEPLOY_KEY_TABLES}`

interface DeployKeyRow extends SshKey {
  readonly id: number
  readonly key_id: number
  readonly repository_id: number
  readonly title: string
  readonly mode: DeployKey['mode']
  readonly created_at: number
}

function deployKeyOf(row: DeployKeyRow): DeployKey {
  const { algorithm, base64, comment, fingerprint } = row
  return {
    id: row.id,
    keyId: row.key_id,
    repositoryId: row.repository_id,
    title: row.title,
    mode: row.mode,
    key: { algorithm, base64, comment, fingerprint },
    createdAtMs: row.created_at,
  }
}
