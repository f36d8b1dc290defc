/** Repositories: the data that is not in Git. */

import type { Knex } from 'knex'
import { Failure } from '../../conf/failures.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { findNewName } from '../accounts/owner-names.js'
import { OWNER_COLUMNS, type Owner, type OwnerRow, ownerOf } from '../accounts/owners.js'
import { foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'
import { copyDefaultWebhooks } from '../webhooks/webhooks.js'
import { removeDeployKeys } from './deploy-keys.js'
import { watchAsOwner } from './stars-and-watches.js'

/** Settings without a column of their own, such as `has_issues` or `default_merge_style`. */
export type Preferences = Readonly<Record<string, boolean | string>>

export interface Repository {
  readonly id: number
  readonly owner: Owner
  readonly name: string
  /** Name of the directory on disk, which stays when the repository is renamed or transferred. */
  readonly storage: string
  readonly description: string
  readonly website: string
  readonly isPrivate: boolean
  readonly isArchived: boolean
  readonly archivedAtMs: number | undefined
  readonly isTemplate: boolean
  readonly isEmpty: boolean
  readonly defaultBranch: string
  readonly objectFormat: 'sha1' | 'sha256'
  readonly sizeKib: number
  /** Size of the wiki's Git data; 0 if there is no wiki. */
  readonly wikiSizeKib: number
  /** True for the wiki of a repository: see `wikiOf`. */
  readonly isWiki?: true
  readonly preferences: Preferences
  /** Hash of the uploaded picture. */
  readonly avatarHash: string | undefined
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly pushedAtMs: number | undefined
  /** Undefined for a repository that was not imported. */
  readonly source: RepositorySource | undefined
}

/** Source that a repository was imported from. */
export interface RepositorySource {
  /** URL without credentials. */
  readonly url: string
  /** Undefined unless the repository is a mirror. */
  readonly mirror: { readonly intervalMs: number; readonly syncedAtMs: number } | undefined
}

export interface NewRepository {
  readonly ownerId: number
  readonly name: string
  /** Name of the directory on disk: 32 hexadecimal digits. */
  readonly storage: string
  readonly description: string
  readonly website: string
  readonly isPrivate: boolean
  readonly isTemplate: boolean
  readonly isEmpty: boolean
  readonly defaultBranch: string
  readonly objectFormat: Repository['objectFormat']
  readonly preferences: Preferences
  /** User who watches the new repository; by default its owner. */
  readonly watcherId?: number | undefined
}

/** Changes to a repository; absent fields keep their value. */
export interface RepositoryPatch {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly website?: string | undefined
  readonly isPrivate?: boolean | undefined
  readonly isArchived?: boolean | undefined
  readonly isTemplate?: boolean | undefined
  readonly isEmpty?: boolean | undefined
  readonly defaultBranch?: string | undefined
  readonly sizeKib?: number | undefined
  readonly preferences?: Preferences | undefined
  readonly pushedAtMs?: number | undefined
}

/** Error text if the owner has a repository with that name. */
export const NAME_TAKEN = 'The repository with the same name already exists.'

/** Creates a repository. Throws `conflict` if its owner has one with that name. */
export async function createRepository(
  db: Database,
  repository: NewRepository,
): Promise<Repository> {
  const nowMs = Date.now()
  const nameLower = foldCase(repository.name)
  return await transaction(db, async (trx) => {
    await orConflict(NAME_TAKEN, () =>
      trx('repositories').insert({
        owner_id: repository.ownerId,
        name: repository.name,
        name_lower: nameLower,
        storage: repository.storage,
        description: repository.description,
        website: repository.website,
        is_private: repository.isPrivate,
        is_archived: false,
        archived_at: null,
        is_template: repository.isTemplate,
        is_empty: repository.isEmpty,
        default_branch: repository.defaultBranch,
        object_format: repository.objectFormat,
        size_kib: 0,
        preferences: JSON.stringify(repository.preferences),
        created_at: nowMs,
        updated_at: nowMs,
        pushed_at: null,
      }),
    )
    await removeRedirect(trx, repository.ownerId, nameLower)
    const [created] = await selectRepositories(trx, 'where r.storage = ?', [repository.storage])
    if (created === undefined) throw new Error('The inserted repository was not found.')
    const { watcherId = repository.ownerId } = repository
    await watchAsOwner(trx, { userId: watcherId, repositoryId: created.id })
    await copyDefaultWebhooks(trx, created.id)
    return created
  })
}

/** Returns the repository with that name. Case is ignored in both names. */
export function findRepository(
  db: Database,
  ownerName: string,
  repositoryName: string,
): Awaitable<Repository | undefined> {
  const names = [foldCase(ownerName), foldCase(repositoryName)]
  return after(selectRows<RepositoryRow>(db, SELECT_BY_NAME, names), ([row]) =>
    row === undefined ? undefined : repositoryOf(row),
  )
}

/** Returns the repository with that id. */
export async function findRepositoryById(
  db: Database,
  repositoryId: number,
): Promise<Repository | undefined> {
  const [found] = await selectRepositories(db, 'where r.id = ?', [repositoryId])
  return found
}

/** Returns the repositories with those ids; ids without a repository are left out. */
export async function findRepositoriesById(
  db: Database,
  repositoryIds: readonly number[],
): Promise<readonly Repository[]> {
  if (repositoryIds.length === 0) return []
  const places = repositoryIds.map(() => '?').join()
  return await selectRepositories(db, `where r.id in (${places})`, repositoryIds)
}

/**
 * Returns the repository that had that name before it was renamed or transferred, or before its
 * owner was renamed.
 */
export async function findRedirect(
  db: Database,
  ownerName: string,
  repositoryName: string,
): Promise<Repository | undefined> {
  const found = await findFormer(db, ownerName, repositoryName)
  if (found !== undefined) return found
  const newName = await findNewName(db, ownerName)
  if (newName === undefined) return undefined
  return (
    (await findRepository(db, newName, repositoryName)) ??
    (await findFormer(db, newName, repositoryName))
  )
}

async function findFormer(
  db: Database,
  ownerName: string,
  repositoryName: string,
): Promise<Repository | undefined> {
  const [found] = await selectRepositories(
    db,
    `where r.id = (select d.repository_id from repository_redirects d
       join owners was on was.id = d.owner_id where was.name_lower = ? and d.name_lower = ?)`,
    [foldCase(ownerName), foldCase(repositoryName)],
  )
  return found
}

/**
 * Changes a repository; its old name redirects to the new one. Throws `conflict` if the owner has
 * another repository with the new name, and `not_found` if the repository does not exist.
 */
export async function updateRepository(
  db: Database,
  repositoryId: number,
  patch: RepositoryPatch,
): Promise<void> {
  const nameLower = patch.name === undefined ? undefined : foldCase(patch.name)
  await transaction(db, async (trx) => {
    const before: LockedRow | undefined = await trx('repositories')
      .where({ id: repositoryId })
      .forUpdate()
      .first('owner_id', 'name_lower', 'archived_at')
    if (before === undefined) throw new Failure('not_found', 'The repository does not exist.')
    await orConflict(NAME_TAKEN, () =>
      trx('repositories').where({ id: repositoryId }).update(columnsOf(patch, before)),
    )
    if (nameLower === undefined || nameLower === before.name_lower) return
    await removeRedirect(trx, before.owner_id, nameLower)
    await trx('repository_redirects').insert({
      owner_id: before.owner_id,
      name_lower: before.name_lower,
      repository_id: repositoryId,
    })
  })
}

/**
 * Sets the size and the time of the last push in one statement: a transaction of four would cost
 * each push more than the statement. Does nothing if the repository does not exist.
 */
export async function recordPush(
  db: Database,
  repositoryId: number,
  { sizeKib, pushedAtMs }: { readonly sizeKib: number; readonly pushedAtMs: number },
): Promise<void> {
  await db('repositories')
    .where({ id: repositoryId })
    .update({ size_kib: sizeKib, updated_at: pushedAtMs, pushed_at: pushedAtMs })
}

interface LockedRow {
  readonly owner_id: number
  readonly name_lower: string
  readonly archived_at: number | null
}

/**
 * Returns only the changed columns, so that a concurrent push and a change of the description do
 * not overwrite each other.
 */
function columnsOf(patch: RepositoryPatch, before: LockedRow): Record<string, Knex.Value> {
  const nowMs = Date.now()
  const columns = {
    name: patch.name,
    name_lower: patch.name === undefined ? undefined : foldCase(patch.name),
    description: patch.description,
    website: patch.website,
    is_private: patch.isPrivate,
    is_archived: patch.isArchived,
    is_template: patch.isTemplate,
    is_empty: patch.isEmpty,
    default_branch: patch.defaultBranch,
    size_kib: patch.sizeKib,
    preferences: patch.preferences === undefined ? undefined : JSON.stringify(patch.preferences),
    updated_at: isMeasured(patch) ? undefined : nowMs,
    pushed_at: patch.pushedAtMs,
  }
  const archivedAt = patch.isArchived === true ? (before.archived_at ?? nowMs) : null
  return Object.fromEntries([
    ...Object.entries(columns).filter(([, value]) => value !== undefined),
    ...(patch.isArchived === undefined ? [] : [['archived_at', archivedAt]]),
  ])
}

/** Returns true if the patch sets only the measured size, which does not count as an update. */
function isMeasured({ sizeKib, ...rest }: RepositoryPatch): boolean {
  return sizeKib !== undefined && Object.keys(rest).length === 0
}

async function removeRedirect(db: Database, ownerId: number, nameLower: string): Promise<void> {
  await db('repository_redirects').where({ owner_id: ownerId, name_lower: nameLower }).delete()
}

/**
 * Deletes the rows of a repository and its deploy keys. Returns false if there is no such
 * repository.
 */
export async function deleteRepository(db: Database, repositoryId: number): Promise<boolean> {
  return await transaction(db, async (trx) => {
    await removeDeployKeys(trx, repositoryId)
    return (await trx('repositories').where({ id: repositoryId }).delete()) > 0
  })
}

const SELECT = `select r.id, r.name, r.storage, r.description, r.website, r.is_private,
  r.is_archived, r.archived_at, r.is_template, r.is_empty, r.default_branch, r.object_format,
  r.size_kib, r.wiki_size_kib, r.preferences, r.created_at, r.updated_at, r.pushed_at,
  s.url as source_url, s.is_mirror as source_is_mirror, s.interval_ms as source_interval_ms,
  s.synced_at as source_synced_at,
  (select a.hash from avatars a where a.repository_id = r.id) as avatar_hash, ${OWNER_COLUMNS}
  from repositories r join owners o on o.id = r.owner_id
  left join repository_sources s on s.repository_id = r.id`

const SELECT_BY_NAME = `${SELECT} where o.name_lower = ? and r.name_lower = ?`

/**
 * Returns the repositories, selected from the aliases `r` and `o` for the owner, for an SQL clause
 * that starts with `where`.
 */
export async function selectRepositories(
  db: Database,
  condition: string,
  bindings: readonly (string | number)[],
): Promise<readonly Repository[]> {
  const rows = await selectRows<RepositoryRow>(db, `${SELECT} ${condition}`, bindings)
  return rows.map(repositoryOf)
}

interface RepositoryRow extends OwnerRow {
  readonly id: number
  readonly name: string
  readonly storage: string
  readonly description: string
  readonly website: string
  readonly is_private: number
  readonly is_archived: number
  readonly archived_at: number | null
  readonly is_template: number
  readonly is_empty: number
  readonly default_branch: string
  readonly object_format: Repository['objectFormat']
  readonly size_kib: number
  readonly avatar_hash: string | null
  readonly wiki_size_kib: number
  readonly preferences: string
  readonly created_at: number
  readonly updated_at: number
  readonly pushed_at: number | null
  readonly source_url: string | null
  readonly source_is_mirror: number | null
  readonly source_interval_ms: number | null
  readonly source_synced_at: number | null
}

/** Results by row: a cached query returns the same frozen row object again. */
const converted = new WeakMap<RepositoryRow, Repository>()

function repositoryOf(row: RepositoryRow): Repository {
  const known = converted.get(row)
  if (known !== undefined) return known
  const repository = Object.freeze(readRow(row))
  if (Object.isFrozen(row)) converted.set(row, repository)
  return repository
}

function readRow(row: RepositoryRow): Repository {
  return {
    id: row.id,
    owner: ownerOf(row),
    name: row.name,
    storage: row.storage,
    description: row.description,
    website: row.website,
    isPrivate: row.is_private === 1,
    isArchived: row.is_archived === 1,
    archivedAtMs: row.archived_at ?? undefined,
    isTemplate: row.is_template === 1,
    isEmpty: row.is_empty === 1,
    defaultBranch: row.default_branch,
    objectFormat: row.object_format,
    sizeKib: row.size_kib,
    wikiSizeKib: row.wiki_size_kib,
    preferences: JSON.parse(row.preferences),
    avatarHash: row.avatar_hash ?? undefined,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
    pushedAtMs: row.pushed_at ?? undefined,
    source: sourceOf(row),
  }
}

function sourceOf(row: RepositoryRow): RepositorySource | undefined {
  if (row.source_url === null) return undefined
  const isMirror = row.source_is_mirror === 1
  const { source_interval_ms: intervalMs, source_synced_at: syncedAtMs } = row
  return {
    url: row.source_url,
    mirror: isMirror ? { intervalMs: intervalMs ?? 0, syncedAtMs: syncedAtMs ?? 0 } : undefined,
  }
}
