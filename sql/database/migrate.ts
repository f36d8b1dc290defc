/** Bringing the tables to what this version of the house expects. */

import { MIGRATIONS } from '../migrations/list.js'
import type { Database } from './database.js'
import { createTable, withDatabaseLock } from './dialect.js'

/** One step of the schema, and whether this database has it. */
export interface MigrationState {
  readonly name: string
  readonly appliedAtMs: number | undefined
}

/**
 * Applies what is missing and returns the names of what it did. Any number of processes may call
 * it at once, and one that is killed in the middle leaves nothing that a next call does not finish.
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

/** Every migration that there is, in order. */
export async function migrationStatus(db: Database): Promise<readonly MigrationState[]> {
  const isNew = !(await db.schema.hasTable('migrations'))
  const applied = isNew ? new Map<string, number>() : await appliedMigrations(db)
  return MIGRATIONS.map(({ name }) => ({ name, appliedAtMs: applied.get(name) }))
}

/** Takes back all migrations, and all data with them. */
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
