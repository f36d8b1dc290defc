/** Running imports: each has a row until it is complete or its stale files are removed. */

import { Failure } from '../../conf/failures.js'
import { foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation, orConflict } from '../database/errors.js'
import { type KeptBlob, type NewBlob, placeBlob } from '../packages/blobs.js'
import { type ImportedContents, storeContents } from './imported-contents.js'
import { addImportedLfsObjects, type ImportedLfs } from './lfs-objects.js'
import { lockOwnerRow } from './owner-lock.js'
import {
  createRepository,
  findRepositoryById,
  type NewRepository,
  type Repository,
} from './repositories.js'
import { addSource, type NewSource } from './repository-sources.js'

export interface NewImport {
  readonly ownerId: number
  readonly name: string
  /** Storage key of the future repository. */
  readonly storage: string
  /** Name of the machine that runs the import. */
  readonly machine: string
  /** Identifier of the process, which no later process has; chosen by the caller. */
  readonly process: string
  readonly leaseMs: number
}

/** Unfinished import. */
export interface Import {
  readonly id: number
  readonly storage: string
  readonly machine: string
  readonly process: string
  readonly leasedUntilMs: number
}

/**
 * Inserts an import, which reserves the name, and returns its id. Throws `conflict` if another
 * import has reserved it.
 */
export async function beginImport(db: Database, wanted: NewImport): Promise<number> {
  const nowMs = Date.now()
  const [id] = await orConflict('The repository with the same name already exists.', () =>
    db('repository_imports').insert({
      owner_id: wanted.ownerId,
      name_lower: foldCase(wanted.name),
      storage: wanted.storage,
      machine: wanted.machine,
      process: wanted.process,
      leased_until: nowMs + wanted.leaseMs,
      created_at: nowMs,
    }),
  )
  if (id === undefined) throw new Error('The insert returned no id.')
  return id
}

/** Extends the lease of a running import. */
export async function renewImport(db: Database, id: number, leaseMs: number): Promise<void> {
  await activeImport(db, id).update({ leased_until: Date.now() + leaseMs })
}

export interface CompletedImport {
  readonly repository: NewRepository
  readonly source: NewSource
  /** Undefined if only Git data is imported. */
  readonly contents?: ImportedContents | undefined
  /** Undefined if no objects of Git LFS are imported. */
  readonly lfs?: ImportedLfs | undefined
}

/**
 * Creates the repository and deletes the import in one transaction. Throws `conflict` if the name
 * is taken, `insufficient_storage` if the limit of LFS objects is exceeded, and `unavailable` if
 * the import was given up as dead.
 */
export async function completeImport(
  db: Database,
  id: number,
  { repository, source, contents, lfs }: CompletedImport,
): Promise<Repository> {
  return await transaction(db, async (trx) => {
    if (lfs !== undefined) await lockOwnerRow(trx, repository.ownerId)
    if ((await activeImport(trx, id).delete()) === 0) throw importGivenUp()
    const created = await createRepository(trx, repository)
    await addSource(trx, created.id, source)
    if (contents !== undefined) await storeContents(trx, created.id, contents)
    if (lfs !== undefined) {
      const { ownerId } = repository
      await addImportedLfsObjects(trx, { id: created.id, ownerId }, lfs)
    }
    return (await findRepositoryById(trx, created.id)) ?? created
  })
}

const TRIES_MAX = 5

/**
 * Stores a blob, whose bytes are stored already, and protects it while the import lasts. Throws
 * `unavailable` if the import was given up as dead.
 */
export async function holdBlob(db: Database, id: number, blob: NewBlob): Promise<KeptBlob> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction(db, async (trx) => {
        const kept = await placeBlob(trx, blob)
        const held = { import_id: id, blob_id: kept.id }
        const known = await trx('import_blobs').where(held).first('blob_id')
        if (known === undefined) await trx('import_blobs').insert(held)
        return kept
      })
    } catch (error) {
      // The import or an unused blob was deleted concurrently.
      if (!isReferenceViolation(error)) throw error
      if (attempt === TRIES_MAX) throw importGivenUp(error)
    }
  }
}

function importGivenUp(cause?: unknown): Failure {
  const message = 'The migration was interrupted. Please try again.'
  return new Failure('unavailable', message, { cause })
}

/** Deletes an import, after its stale files were removed. */
export async function endImport(db: Database, id: number): Promise<void> {
  await db('repository_imports').where({ id }).delete()
}

/** Returns all unfinished imports, oldest first. */
export async function listImports(db: Database): Promise<readonly Import[]> {
  const rows = await selectRows<ImportRow>(
    db,
    'select id, storage, machine, process, leased_until from repository_imports order by id',
  )
  return rows.map(({ leased_until: leasedUntilMs, ...row }) => ({ ...row, leasedUntilMs }))
}

interface ImportRow extends Omit<Import, 'leasedUntilMs'> {
  readonly leased_until: number
}

/** Prevents the completion of an import. Returns false if it was renewed or has ended meanwhile. */
export async function giveUpImport(
  db: Database,
  { id, leasedUntilMs }: Pick<Import, 'id' | 'leasedUntilMs'>,
): Promise<boolean> {
  if (leasedUntilMs === 0) return true
  const given = await db('repository_imports')
    .where({ id, leased_until: leasedUntilMs })
    .update({ leased_until: 0 })
  return given > 0
}

function activeImport(db: Database, id: number) {
  return db('repository_imports').where({ id }).where('leased_until', '>', 0)
}
