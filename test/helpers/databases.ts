/** The two databases that every question of the house is asked of. */

import { join } from 'node:path'
import { t as root, type Test } from 'tap'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { closeDatabase, type Database, openDatabase } from '../../sql/database.js'
import { migrate } from '../../sql/migrate.js'
import { type Mariadb, startMariadb } from './mariadb.js'
import { temporaryFolder } from './temporary.js'

let server: Promise<Mariadb> | undefined

/** The MariaDB that the tests of one file share; it ends with the file. */
export async function sharedMariadb(): Promise<Mariadb> {
  if (server === undefined) {
    const started = startMariadb()
    server = started
    root.teardown(async () => (await started).remove())
  }
  return await server
}

/** Where a fresh, empty database of that kind is. */
export async function freshLocation(
  t: Test,
  kind: DatabaseLocation['kind'],
): Promise<DatabaseLocation> {
  if (kind === 'sqlite')
    return { kind, file: join(await temporaryFolder(t), 'data', 'gatehouse.db') }
  return { kind, url: new URL(await (await sharedMariadb()).createSchema()) }
}

/** Runs the same subtest on SQLite and on MariaDB, each with a fresh, empty database. */
export async function forEachDatabase(
  t: Test,
  name: string,
  test: (t: Test, location: DatabaseLocation) => Promise<void>,
): Promise<void> {
  for (const kind of ['sqlite', 'mysql'] as const) {
    await t.test(`${kind}: ${name}`, async (t) => {
      await test(t, await freshLocation(t, kind))
    })
  }
}

/** Opens a database until the test ends. */
export async function openForTest(t: Test, location: DatabaseLocation): Promise<Database> {
  const db = await openDatabase({ location, connectionsMax: 10 })
  t.teardown(() => closeDatabase(db))
  return db
}

/** As `forEachDatabase`, with the tables in place. */
export async function forEachMigrated(
  t: Test,
  name: string,
  test: (t: Test, db: Database) => Promise<void>,
): Promise<void> {
  await forEachDatabase(t, name, async (t, location) => {
    const db = await openForTest(t, location)
    await migrate(db)
    await test(t, db)
  })
}
