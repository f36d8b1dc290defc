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
 * process is killed during a migration, the next call completes it.
 */
export async function migrate(db: Database): Promise<readonly string[]> {
  return await withDatabaseLock(db, async (locked) => {
    await createTable(locked, 'migrations', {
      lines: ['name varchar(100) primary key', 'applied_at bigint not null'],
    })
    const applied = await appliedMigrations(locked)
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
  const isNew = !(await db.schema.hasTable('migrations'))
  const applied = isNew ? new Map<string, number>() : await appliedMigrations(db)
  return MIGRATIONS.map(({ name }) => ({ name, appliedAtMs: applied.get(name) }))
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

async function appliedMigrations(db: Database): Promise<ReadonlyMap<string, number>> {
  const rows: readonly { name: string; applied_at: number }[] = await db('migrations').select(
    'name',
    'applied_at',
  )
  return new Map(rows.map((row) => [row.name, row.applied_at]))
}
