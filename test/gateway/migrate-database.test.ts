/** Missing migrations are detected, applied and logged. */

import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { isBehind, migrateDatabase } from '../../gateway/migrate-database.js'
import { closeDatabase, openDatabase } from '../../sql/database/database.js'
import { temporaryFolder } from '../helpers/temporary.js'

t.test('a new database is behind until it is migrated', async (t) => {
  const file = join(await temporaryFolder(t), 'gatehouse.db')
  const db = await openDatabase({ location: { kind: 'sqlite', file }, connectionsMax: 1 })
  t.teardown(() => closeDatabase(db))
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) })
  t.equal(await isBehind(db), true)
  await migrateDatabase(db, log)
  t.equal(await isBehind(db), false)
  await migrateDatabase(db, log)
  t.equal(lines.length, 1)
  t.match(lines[0], '"msg":"the database was migrated"')
  await db('migrations').insert({ name: '9999-later', applied_at: 1 })
  await t.rejects(migrateDatabase(db, log), {
    message: /^the database has migrations of a newer Gatehouse \(9999-later\): /,
  })
})
