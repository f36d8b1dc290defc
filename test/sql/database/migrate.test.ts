/** Migrations run once, under a lock, and are completed after a kill. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, t } from 'tap'
import { findUser } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { isMysql, selectRows, withDatabaseLock } from '../../../sql/database/dialect.js'
import { migrate, migrationStatus, rollback } from '../../../sql/database/migrate.js'
import * as indexKeys from '../../../sql/migrations/0007-index-keys.js'
import * as packageLists from '../../../sql/migrations/0043-package-lists.js'
import { MIGRATIONS, type Migration } from '../../../sql/migrations/list.js'
import { forEachEmptyDatabase, openForTest } from '../../helpers/databases.js'
import { aPublication } from '../../helpers/package-rows.js'
import { anOrganization, aRepository, aUser } from '../../helpers/rows.js'
import { startSqlChild } from '../../helpers/sql-child.js'
import { isFullSize } from '../../helpers/test-size.js'

const NAMES = [
  '0001-accounts',
  '0002-repositories',
  '0003-jobs',
  '0004-keys',
  '0005-packages',
  '0006-package-indexes',
  '0007-index-keys',
  '0008-former-signing-keys',
  '0009-issues',
  '0010-releases',
  '0011-webhooks',
  '0012-pulls',
  '0013-people',
  '0014-migrations',
  '0015-branch-protections',
  '0016-stars-and-watches',
  '0017-notifications',
  '0018-imported-contents',
  '0019-pull-forks',
  '0020-limited-tokens',
  '0021-sessions',
  '0022-second-factors',
  '0023-oauth',
  '0024-administration',
  '0025-security-keys',
  '0026-change-counter',
  '0027-workflows',
  '0028-workflow-secrets',
  '0029-runner-settings',
  '0030-workflow-trust',
  '0031-run-events',
  '0032-run-attempts',
  '0033-artifacts',
  '0034-deferred-jobs',
  '0035-workflow-schedules',
  '0036-step-summaries',
  '0037-run-notifications',
  '0038-workflow-logs',
  '0039-job-environment',
  '0040-package-retention',
  '0041-index-validity',
  '0042-package-downloads',
  '0043-package-lists',
  '0044-lfs',
  '0046-wikis',
  '0047-follows-and-blocks',
  '0048-avatars',
  '0049-activities',
  '0050-issue-events',
  '0051-issue-attachments',
  '0052-issue-links',
  '0053-tracked-times',
  '0055-tag-protections',
  '0056-push-mirrors',
  '0057-hook-services',
  '0062-site-webhooks',
  '0063-owner-redirects',
  '0064-secret-fingerprint',
  '0066-gpg-keys',
  '0068-repository-transfers',
  '0070-mirror-contents',
  '0073-holds',
  '0075-audit',
  '0078-package-readmes',
  '0083-lfs-quotas',
  '0086-backups',
  '0087-failed-attempts',
  '0088-transfer-notifications',
]

/** Returns the definition of every table, index and column. */
async function schemaOf(db: Database): Promise<readonly unknown[]> {
  if (!isMysql(db)) {
    return await selectRows(db, 'select type, name, sql from sqlite_master order by type, name')
  }
  const tables = await selectRows<{ name: string }>(
    db,
    'select table_name as name from information_schema.tables where table_schema = database() order by 1',
  )
  const definitions: unknown[] = []
  for (const { name } of tables) {
    const [row] = await selectRows<object>(db, `show create table ${name}`)
    definitions.push(String(Object.values(row ?? {})[1]).replace(/ AUTO_INCREMENT=\d+/, ''))
  }
  return definitions
}

/** Migrations that are stopped after each statement; the older ones never change. */
const RECENT = MIGRATIONS.slice(isFullSize ? 0 : -8)
const OLDER = MIGRATIONS.slice(0, -RECENT.length)
/** Numbers of statements, among which are those of the lock and of what exists. */
const FEW_STATEMENTS = [1, 4, 12]

await forEachEmptyDatabase(t, 'all migrations together', async (t, location) => {
  const db = await openForTest(t, location)
  await t.test('all migrations are applied once, and their times are stored', async (t) => {
    t.strictSame(
      await migrationStatus(db),
      NAMES.map((name) => ({ name, appliedAtMs: undefined })),
    )
    const beforeMs = Date.now()
    t.strictSame(await migrate(db), NAMES)
    t.strictSame(await migrate(db), [])
    const applied = await migrationStatus(db)
    const isTimely = (ms = 0) => ms >= beforeMs && ms <= Date.now()
    t.strictSame(
      applied.map(({ name, appliedAtMs }) => [name, isTimely(appliedAtMs)]),
      NAMES.map((name) => [name, true]),
    )
  })
  const schema = await schemaOf(db)
  await t.test('down reverses everything that up created', async (t) => {
    const ada = await aUser(db, 'ada')
    await aRepository(db, (await anOrganization(db, 'org', ada.id)).id, 'engine')
    await rollback(db)
    const left = JSON.stringify(await schemaOf(db))
    t.notMatch(left, /owners|users|teams|repositories|tokens|jobs|keys/)
  })
  await t.test('a migration that stopped after any statement is completed', async (t) => {
    const ends: string[] = []
    for (const { up } of OLDER) {
      const bringUp = (db: Database) => withDatabaseLock(db, up)
      for (const last of FEW_STATEMENTS) ends.push(await endOf(runUntil(db, bringUp, last)))
      await bringUp(db)
    }
    t.ok(ends.filter((end) => end !== 'done').length >= OLDER.length)
    for (const migration of RECENT) await isCompleted(t, db, migration)
    t.strictSame(await schemaOf(db), schema)
    t.equal(await findUser(db, 'ada'), undefined)
  })
})

/**
 * Stops a migration after each of its statements, and completes it. It continues after the last
 * stop, or starts anew if what exists makes the last statements needless.
 */
async function isCompleted(t: Test, db: Database, { name, up, down }: Migration): Promise<void> {
  const bringUp = (db: Database) => withDatabaseLock(db, up)
  const statements = await countStatements(db, bringUp)
  const schema = await schemaOf(db)
  const schemas: unknown[] = []
  const restart = async () => {
    await bringUp(db)
    schemas.push(await schemaOf(db))
    await down(db)
  }
  const ends: string[] = []
  for (let last = 1; last < statements; last += 1) {
    if (last === 1 || isFullSize) await restart()
    let end = await endOf(runUntil(db, bringUp, last))
    if (end === 'done') {
      await restart()
      end = await endOf(runUntil(db, bringUp, last))
    }
    ends.push(end)
  }
  t.strictSame(
    ends,
    Array(statements - 1).fill('the process ended'),
    `${name} stops after each statement`,
  )
  await bringUp(db)
  schemas.push(await schemaOf(db))
  t.strictSame(schemas, Array(schemas.length).fill(schema), `${name} is completed`)
}

const PROCESSES = isFullSize ? 4 : 2

await forEachEmptyDatabase(
  t,
  'concurrent processes apply each migration once',
  async (t, location) => {
    const db = await openForTest(t, location)
    // The test's process is one of them.
    const children = Array.from({ length: PROCESSES - 1 }, () => startSqlChild('migrate', location))
    await Promise.race(children.map((child) => child.ready))
    const own = migrate(db).then(({ length }) => length)
    const applied = await Promise.all([own, ...children.map((child) => child.result)])
    t.strictSame(applied.sort(), [...Array(PROCESSES - 1).fill(0), NAMES.length])
    t.strictSame(await migrate(db), [])
    await aUser(db, 'ada')
  },
)

/** Returns how work ended: the message of its error, or `done`. */
async function endOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'done',
    (error: Error) => error.message,
  )
}

/** Number of stops; there are few, because each one runs all migrations. */
const STOPS = isFullSize ? 6 : 1
/** Delays before processes are killed; there are few for the same reason. */
const KILLED_AFTER_MS = isFullSize ? [0, 2, 6, 20] : [10]

await forEachEmptyDatabase(t, 'all migrations, interrupted', async (t, location) => {
  const db = await openForTest(t, location)
  const statements = await countStatements(db, migrate)
  const schema = await schemaOf(db)
  await t.test('migrations that stopped after any statement are completed', async (t) => {
    t.ok(statements > NAMES.length * 2, `${statements} statements`)
    for (let stop = 1; stop <= STOPS; stop += 1) {
      const last = Math.floor((stop * statements) / (STOPS + 1))
      await rollback(db)
      await t.rejects(runUntil(db, migrate, last), { message: 'the process ended' })
      await migrate(db)
      t.strictSame(await schemaOf(db), schema, `stopped after ${last} statements`)
    }
  })
  await t.test('a process killed while it migrates does no harm', async (t) => {
    for (const delayMs of KILLED_AFTER_MS) {
      await rollback(db)
      const child = startSqlChild('migrate', location)
      const ended = child.result.catch(() => undefined)
      await child.ready
      await sleep(delayMs)
      child.process.kill('SIGKILL')
      await ended
      await migrate(db)
      t.strictSame(await schemaOf(db), schema, `killed after ${delayMs} ms`)
    }
  })
  await t.test('existing entries of package indexes get sort keys', (t) => getSortKeys(t, db))
  await t.test('existing package versions get their owner', (t) => getOwners(t, db))
})

/**
 * Returns false for statements that end a transaction, which a killed process does not run either.
 */
function isWork({ sql }: { readonly sql: string }): boolean {
  return !/^(?:COMMIT|ROLLBACK|select release_lock)/i.test(sql)
}

type Work = (db: Database) => Promise<unknown>

/** Runs the work and returns the number of its statements. */
async function countStatements(db: Database, work: Work): Promise<number> {
  let count = 0
  const onQuery = (query: { readonly sql: string }) => {
    if (isWork(query)) count += 1
  }
  db.on('query', onQuery)
  await work(db)
  db.removeListener('query', onQuery)
  return count
}

/** Stops before the statement after the `last` one, like a process that is killed. */
async function runUntil(db: Database, work: Work, last: number): Promise<void> {
  let count = 0
  const onQuery = (query: { readonly sql: string }) => {
    if (!isWork(query)) return
    count += 1
    if (count > last) throw new Error('the process ended')
  }
  db.on('query', onQuery)
  try {
    await work(db)
  } finally {
    db.removeListener('query', onQuery)
  }
}

async function getSortKeys(t: Test, db: Database): Promise<void> {
  const { id: ownerId } = await aUser(db, 'ada')
  for (const format of ['debian', 'alpine', 'cran']) {
    for (const packageName of ['b', 'a']) {
      const indexes = [{ key: '', subject: 'stable', part: packageName, metadata: {} }]
      await aPublication(db, { ownerId, format, packageName, indexes })
    }
  }
  await indexKeys.down(db)
  await indexKeys.up(db)
  const rows = await db('package_index_entries').orderBy('id').select('id', 'sort_key', 'part')
  const debian = (id: number) => `-${String(id).padStart(16, '0')}`
  const [first, second] = rows
  t.strictSame(
    rows.map(({ sort_key, part }: { sort_key: string; part: string }) => [sort_key, part]),
    [
      [debian(first.id), 'b'],
      [debian(second.id), 'a'],
      ['b 1.0', 'b'],
      ['a 1.0', 'a'],
      ['b', ''],
      ['a', ''],
    ],
  )
}

async function getOwners(t: Test, db: Database): Promise<void> {
  const [carl, dora] = [await aUser(db, 'carl'), await aUser(db, 'dora')]
  await aPublication(db, { ownerId: carl.id })
  await aPublication(db, { ownerId: dora.id, format: 'go' })
  await packageLists.down(db)
  await packageLists.up(db)
  const rows = await db('package_versions').orderBy('id').select('owner_id', 'format')
  t.match(rows.slice(-2), [
    { owner_id: carl.id, format: 'generic' },
    { owner_id: dora.id, format: 'go' },
  ])
}
