/** Schema migrations. */

import { MIGRATIONS } from '../migrations/list.js'
import type { Database } from './database.js'
import { createTable, withDatabaseLock } from './dialect.js'

/** Migration, and the time when it was applied to this database. */
export interface MigrationState {
  readonly name: string
  readonly appliedAtMs: number | undefined
}

/**
 * Applies missing migrations and returns their names. Processes may call it concurrently. If a
 * process is killed during a migration, the next call completes it. Throws an Error for the user if
 * a newer program has migrated the database.
 */
export async function migrate(db: Database): Promise<readonly string[]> {
  return await withDatabaseLock(db, async (locked) => {
    await createTable(locked, 'migrations', {
      lines: ['name varchar(100) primary key', 'applied_at bigint not null'],
    })
    const applied = await appliedMigrations(locked)
    refuseNewer(applied)
    const names: string[] = []
    for (const migration of MIGRATIONS) {
      if (applied.has(migration.name)) continue
      await migration.up(locked)
      await locked('migrations').insert({ name: migration.name, applied_at: Date.now() })
      names.push(migration.name)
    }
    return names
  })
}

/** Returns all migrations in order. */
export async function migrationStatus(db: Database): Promise<readonly MigrationState[]> {
  const applied = await findApplied(db)
  return MIGRATIONS.map(({ name }) => ({ name, appliedAtMs: applied.get(name) }))
}

/** Throws an Error for the user if a newer program has migrated the database. */
export async function refuseNewerDatabase(db: Database): Promise<void> {
  refuseNewer(await findApplied(db))
}

function refuseNewer(applied: ReadonlyMap<string, number>): void {
  const known = new Set(MIGRATIONS.map(({ name }) => name))
  const unknown = [...applied.keys()].filter((name) => !known.has(name)).sort()
  if (unknown.length === 0) return
  throw new Error(
    `the database has migrations of a newer Gatehouse (${unknown.join(', ')}): start that version, or restore a backup of the database`,
  )
}

/** Reverts all migrations, which deletes all data. */
export async function rollback(db: Database): Promise<void> {
  await withDatabaseLock(db, async (locked) => {
    for (const migration of MIGRATIONS.toReversed()) {
      await migration.down(locked)
      await locked('migrations').where({ name: migration.name }).delete()
    }
  })
}

async function findApplied(db: Database): Promise<ReadonlyMap<string, number>> {
  const isNew = !(await db.schema.hasTable('migrations'))
  return isNew ? new Map() : await appliedMigrations(db)
}

async function appliedMigrations(db: Database): Promise<ReadonlyMap<string, number>> {
  const rows: readonly { name: string; applied_at: number }[] = await db('migrations').select(
    'name',
    'applied_at',
  )
  return new Map(rows.map((row) => [row.name, row.applied_at]))
}
