/** Deploy keys: SSH keys that give access to individual repositories. */

import { Failure } from '../../conf/failures.js'
import type { SshKey } from '../../conf/ssh-key.js'
import { insertKey, KEY_TAKEN } from '../accounts/keys.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

/**
 * Deploy key of one repository; the same SSH key in another repository has another id, title and
 * mode.
 */
export interface DeployKey {
  readonly id: number
  /** Id of the SSH key, which is the same in all repositories. */
  readonly keyId: number
  readonly repositoryId: number
  readonly title: string
  readonly mode: 'read' | 'write'
  readonly key: SshKey
  readonly createdAtMs: number
}

export type NewDeployKey = Pick<DeployKey, 'repositoryId' | 'title' | 'mode' | 'key'>

/**
 * Adds a deploy key. Throws `invalid` if the key belongs to a user, or if the repository has that
 * key or title already, and `not_found` if the repository does not exist.
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

/**
 * Locks the row of a repository, which serializes changes to its keys and its deletion. Returns
 * false if the repository does not exist.
 */
async function lockRepository(trx: Database, repositoryId: number): Promise<boolean> {
  const row = await trx('repositories').where({ id: repositoryId }).forUpdate().first('id')
  return row !== undefined
}

/** Returns the id of the SSH key, which is inserted unless another repository has it already. */
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
    if (id === undefined) throw new Error('The insert returned no id.')
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

/** Returns the access of an SSH key to a repository. */
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
  /** Id of the SSH key. */
  readonly keyId?: number | undefined
}

/** Returns the deploy keys of a repository, oldest first. */
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

/** Returns a repository's deploy key by its id. */
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

/** Removes a deploy key. Returns false if the repository has no deploy key with that id. */
export async function removeDeployKey(
  db: Database,
  repositoryId: number,
  deployKeyId: number,
): Promise<boolean> {
  const where = { repository_id: repositoryId, id: deployKeyId }
  return await transaction(db, (trx) => removeWhere(trx, where))
}

/** Removes all deploy keys of a repository, in the transaction that deletes it. */
export async function removeDeployKeys(trx: Database, repositoryId: number): Promise<void> {
  await removeWhere(trx, { repository_id: repositoryId })
}

/**
 * Removes deploy keys, and SSH keys that no repository uses any more, so that a user can add them.
 */
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
