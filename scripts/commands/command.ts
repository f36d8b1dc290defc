/** What a command of the command line is, and how it reaches the database. */

import type { ParseArgsConfig } from 'node:util'
import { loadSettings } from '../../conf/load.js'
import type { Settings } from '../../conf/settings.js'
import { closeDatabase, type Database, openDatabase } from '../../sql/database.js'
import { migrationStatus } from '../../sql/migrate.js'

export interface CommandCall {
  readonly positionals: readonly string[]
  readonly values: Readonly<Record<string, string | boolean | undefined | (string | boolean)[]>>
}

export interface Command {
  /** `['user', 'create']`. */
  readonly words: readonly [noun: string, verb?: string]
  /** What follows the words: `NAME --password P`. */
  readonly usage: string
  readonly about: string
  readonly positionals: readonly string[]
  readonly options: NonNullable<ParseArgsConfig['options']>
  readonly run: (call: CommandCall) => Promise<void>
}

/** Something that the person at the terminal must put right; one clear sentence. */
export class CommandError extends Error {}

/** The words of the call are wrong; the usage is shown with it. */
export class UsageError extends Error {}

/** The value of an option that must be given. Throws UsageError when it is not. */
export function requiredOption(call: CommandCall, name: string): string {
  const value = call.values[name]
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is needed`)
  return value
}

/** Runs `work` with the configured database, which must be migrated. */
export async function withDatabase<T>(
  work: (db: Database, settings: Settings) => Promise<T>,
): Promise<T> {
  return withAnyDatabase(async (db, settings) => {
    const waiting = (await migrationStatus(db)).filter((entry) => entry.appliedAtMs === undefined)
    if (waiting.length > 0) {
      throw new CommandError("the database is not migrated: run 'gatehouse db migrate'")
    }
    return work(db, settings)
  })
}

/** Runs `work` with the configured database as it is. */
export async function withAnyDatabase<T>(
  work: (db: Database, settings: Settings) => Promise<T>,
): Promise<T> {
  const settings = loadSettings()
  const db = await openDatabase(settings.database).catch((error: unknown) => {
    throw new CommandError(error instanceof Error ? error.message : String(error), { cause: error })
  })
  try {
    return await work(db, settings)
  } finally {
    await closeDatabase(db)
  }
}
