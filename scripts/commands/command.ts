/** Type of a command, its errors, and its access to the database. */

import { loadSettings } from '../../conf/load.js'
import type { Settings } from '../../conf/settings.js'
import { closeDatabase, type Database, openDatabase } from '../../sql/database/database.js'
import { migrationStatus } from '../../sql/database/migrate.js'
import { withCommandEntry } from './audited.js'

export interface CommandCall {
  readonly positionals: readonly string[]
  readonly values: Readonly<Record<string, string | boolean | undefined | (string | boolean)[]>>
}

export interface CommandOption {
  readonly type: 'string' | 'boolean'
  /** Placeholder of the value in the help, such as `ADDRESS`. Only for the type `string`. */
  readonly value?: string
  /** Sentence for the help of the command. */
  readonly about: string
}

export interface Command {
  /** Noun and verb, such as `['user', 'create']`. */
  readonly words: readonly [noun: string, verb?: string]
  /** Arguments in the usage line, such as `NAME [--email ADDRESS] [--admin]`. */
  readonly usage: string
  /** Sentence for the help. */
  readonly about: string
  readonly positionals: readonly string[]
  /** True if any number of arguments may follow the positionals. */
  readonly furtherPositionals?: true
  /** Options by their names without the two hyphens. */
  readonly options: Readonly<Record<string, CommandOption>>
  readonly run: (call: CommandCall) => Promise<void>
}

/** Error of a command; the message is one sentence. Exit status 1. */
export class CommandError extends Error {}

/** Error in the arguments; the message has no final full stop. Exit status 2. */
export class UsageError extends Error {}

/** Ctrl-C during a prompt on the terminal. Exit status 130, without a message. */
export class Interrupted extends Error {}

/** Returns the value of a required option. Throws UsageError if it is missing. */
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
    return withCommandEntry(db, () => work(db, settings))
  })
}

/** Runs `work` with the configured database, which may lack migrations. */
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
