/** `gatehouse db …`: migrations of the database. */

import { migrate, migrationStatus } from '../../sql/database/migrate.js'
import { type Command, withAnyDatabase } from './command.js'

const migrateCommand: Command = {
  words: ['db', 'migrate'],
  usage: '',
  about: 'Migrates the database to the schema of this version.',
  positionals: [],
  options: {},
  async run() {
    const applied = await withAnyDatabase((db) => migrate(db))
    for (const name of applied) console.log(`applied ${name}`)
    if (applied.length === 0) console.log('nothing to do')
  },
}

const statusCommand: Command = {
  words: ['db', 'status'],
  usage: '',
  about: 'Lists the migrations and when each was applied.',
  positionals: [],
  options: {},
  async run() {
    for (const { name, appliedAtMs } of await withAnyDatabase((db) => migrationStatus(db))) {
      const state = appliedAtMs === undefined ? 'waiting' : new Date(appliedAtMs).toISOString()
      console.log(`${name}\t${state}`)
    }
  },
}

export const DB_COMMANDS: readonly Command[] = [migrateCommand, statusCommand]
