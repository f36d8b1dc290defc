/** Test databases on SQLite and MariaDB. */

import { join } from 'node:path'
import { t as root, type Test } from 'tap'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { closeDatabase, type Database, openDatabase } from '../../sql/database/database.js'
import {
  connectMariadb,
  MARIADB_VARIABLE,
  type Mariadb,
  type MariadbClient,
  startMariadb,
} from './mariadb.js'
import { returnSchema, takeSchema } from './schemas.js'
import { copySqliteTemplate } from './templates.js'
import { temporaryFolder } from './temporary.js'
import { isFullSize } from './test-size.js'

let server: Promise<Mariadb> | undefined

/** Starts a MariaDB that a test file may stop and start; it is removed with the file. */
export async function ownMariadb(): Promise<Mariadb> {
  if (server === undefined) {
    const started = startMariadb()
    server = started
    root.teardown(async () => {
      server = undefined
      await (await started).remove()
    })
  }
  return await server
}

/** Returns the MariaDB of this run, or starts one if the test file runs alone. */
export async function sharedMariadb(): Promise<MariadbClient> {
  const port = process.env[MARIADB_VARIABLE]
  return port === undefined ? await ownMariadb() : connectMariadb(Number(port))
}

/** Creates a database without tables, which is removed when the test ends. */
export async function emptyLocation(
  t: Teardown,
  kind: DatabaseLocation['kind'],
): Promise<DatabaseLocation> {
  if (kind === 'sqlite') {
    return { kind, file: join(await temporaryFolder(t), 'data', 'gatehouse.db') }
  }
  const mariadb = await sharedMariadb()
  const url = await mariadb.createSchema()
  t.teardown(() => mariadb.run(`drop database if exists ${url.pathname.slice(1)}`))
  return { kind, url }
}

/** Creates a database with all tables, which is removed when the test ends. */
export async function freshLocation(
  t: Teardown,
  kind: DatabaseLocation['kind'],
): Promise<DatabaseLocation> {
  if (kind === 'sqlite') {
    const file = join(await temporaryFolder(t), 'data', 'gatehouse.db')
    await copySqliteTemplate(file)
    return { kind, file }
  }
  const mariadb = await sharedMariadb()
  const url = await takeSchema(mariadb)
  t.teardown(() => returnSchema(mariadb, url))
  return { kind, url }
}

/** Creates a database with all tables on the given server. */
export async function locationOn(mariadb: Mariadb): Promise<DatabaseLocation> {
  return { kind: 'mysql', url: await takeSchema(mariadb) }
}

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

/** Runs the same subtest on SQLite and on MariaDB, each with a new database that has all tables. */
export async function forEachDatabase(
  t: Test,
  name: string,
  test: (t: Test, location: DatabaseLocation) => Promise<void>,
): Promise<void> {
  for (const kind of ['sqlite', 'mysql'] as const) {
    await t.test(`${kind}: ${name}`, async (t) => test(t, await freshLocation(t, kind)))
  }
}

/**
 * Runs the subtest on SQLite or on MariaDB, by its name, and at full size on both. For behaviour
 * above the queries: each of these runs on both databases in another test.
 */
export async function onOneDatabase(
  t: Test,
  name: string,
  test: (t: Test, location: DatabaseLocation) => Promise<void>,
): Promise<void> {
  if (isFullSize) return await forEachDatabase(t, name, test)
  const kind = name.length % 2 === 0 ? 'sqlite' : 'mysql'
  await t.test(`${kind}: ${name}`, async (t) => test(t, await freshLocation(t, kind)))
}

/** Runs the same subtest on SQLite and on MariaDB, each with a new database without tables. */
export async function forEachEmptyDatabase(
  t: Test,
  name: string,
  test: (t: Test, location: DatabaseLocation) => Promise<void>,
): Promise<void> {
  for (const kind of ['sqlite', 'mysql'] as const) {
    await t.test(`${kind}: ${name}`, async (t) => test(t, await emptyLocation(t, kind)))
  }
}

/** Opens a database until the test ends. */
export async function openForTest(t: Test, location: DatabaseLocation): Promise<Database> {
  const db = await openDatabase({ location, connectionsMax: 10 })
  t.teardown(() => closeDatabase(db))
  return db
}

/** Runs the same subtest on both databases, as `forEachDatabase`, and opens each. */
export async function forEachMigrated(
  t: Test,
  name: string,
  test: (t: Test, db: Database) => Promise<void>,
): Promise<void> {
  await forEachDatabase(t, name, async (t, location) => {
    await test(t, await openForTest(t, location))
  })
}
