/** Running imports: each has a row until it is complete or its stale files are removed. */

import { Failure } from '../../conf/failures.js'
import { foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation, orConflict } from '../database/errors.js'
import { type KeptBlob, type NewBlob, placeBlob } from '../packages/blobs.js'
import { type ImportedContents, storeContents } from './imported-contents.js'
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
  /** The key of the folder that it will have. */
  readonly storage: string
  /** The name of the machine that does the work. */
  readonly machine: string
  /** Tells its process from any later one; a text of the caller's. */
  readonly process: string
  readonly leaseMs: number
}

/** One that was begun and not ended. */
export interface Import {
  readonly id: number
  readonly storage: string
  readonly machine: string
  readonly process: string
  readonly leasedUntilMs: number
}

/** Keeps the name for a repository on its way; answers the id. Throws `conflict` when one is. */
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
  if (id === undefined) throw new Error('an import just begun has no id')
  return id
}

/** Says that somebody is still at work on it. */
export async function renewImport(db: Database, id: number, leaseMs: number): Promise<void> {
  await alive(db, id).update({ leased_until: Date.now() + leaseMs })
}

export interface CompletedImport {
  readonly repository: NewRepository
  readonly source: NewSource
  /** Absent where it is Git's data alone. */
  readonly contents?: ImportedContents | undefined
}

/**
 * The repository is there: it becomes known in the same instant in which its import ends. Throws
 * `conflict` for a taken name, and `unavailable` when somebody took the import for dead.
 */
export async function completeImport(
  db: Database,
  id: number,
  { repository, source, contents }: CompletedImport,
): Promise<Repository> {
  return await transaction(db, async (trx) => {
    if ((await alive(trx, id).delete()) === 0) throw givenUp()
    const created = await createRepository(trx, repository)
    await addSource(trx, created.id, source)
    if (contents !== undefined) await storeContents(trx, created.id, contents)
    return (await findRepositoryById(trx, created.id)) ?? created
  })
}

const TRIES_MAX = 5

/**
 * Keeps a blob, whose bytes are in their place, for as long as the import lasts. Throws
 * `unavailable` when somebody took the import for dead.
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
      // The import, or a blob that nobody needed any more, went at this very moment.
      if (!isReferenceViolation(error)) throw error
      if (attempt === TRIES_MAX) throw givenUp(error)
    }
  }
}

function givenUp(cause?: unknown): Failure {
  const message = 'The migration was given up meanwhile. Please try again.'
  return new Failure('unavailable', message, { cause })
}

/** Forgets an import, of which nothing is left. */
export async function endImport(db: Database, id: number): Promise<void> {
  await db('repository_imports').where({ id }).delete()
}

/** All that were begun and not ended. */
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

/** From now on it cannot be completed. False: it was renewed or ended meanwhile. */
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

function alive(db: Database, id: number) {
  return db('repository_imports').where({ id }).where('leased_until', '>', 0)
}
