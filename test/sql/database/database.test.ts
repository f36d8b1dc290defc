/** SQLite and MySQL open, retry, fail and recover in the same way. */

import { execFileSync } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { t } from 'tap'
import type { DatabaseLocation } from '../../../conf/database-location.js'
import { type Failure, isFailure } from '../../../conf/failures.js'
import { inTick } from '../../../conf/lib/tick.js'
import {
  createToken,
  findTokenWithUser,
  listTokens,
  touchToken,
} from '../../../sql/accounts/tokens.js'
import { deleteUser, findPassword, findUser, listUsers } from '../../../sql/accounts/users.js'
import { enqueueJob, leaseJob } from '../../../sql/admin/jobs.js'
import { CHANGE_COUNTER_TABLE } from '../../../sql/database/change-counter.js'
import {
  closeDatabase,
  type Database,
  openDatabase,
  ping,
  transaction,
} from '../../../sql/database/database.js'
import { selectRows } from '../../../sql/database/dialect.js'
import { migrate, migrationStatus } from '../../../sql/database/migrate.js'
import { organizationRole } from '../../../sql/organizations/organizations.js'
import { accessToRepository } from '../../../sql/repositories/access.js'
import { findRepository, updateRepository } from '../../../sql/repositories/repositories.js'
import { listRepositoriesOf } from '../../../sql/repositories/repository-lists.js'
import {
  forEachDatabase,
  forEachMigrated,
  freshLocation,
  locationOn,
  openForTest,
  ownMariadb,
  sharedMariadb,
} from '../../helpers/databases.js'
import { MARIADB_PASSWORD } from '../../helpers/mariadb.js'
import { aRepository, aUser } from '../../helpers/rows.js'
import { startSqlChild } from '../../helpers/sql-child.js'
import { isFullSize } from '../../helpers/test-size.js'

await t.test('sqlite: creates its folder and file for its own user only', async (t) => {
  const file = join(t.testdir(), 'a', 'b', 'gatehouse.db')
  const db = await openForTest(t, { kind: 'sqlite', file })
  await ping(db)
  t.equal((await stat(file)).mode & 0o777, 0o600)
  t.equal((await stat(dirname(file))).mode & 0o777, 0o700)
  const pragmas = ['journal_mode', 'synchronous', 'foreign_keys'].map(async (name) => {
    const [row] = await selectRows<object>(db, `pragma ${name}`)
    return Object.values(row ?? {})[0]
  })
  t.strictSame(await Promise.all(pragmas), ['wal', 2, 1])
})

await t.test("mysql: sessions do not depend on the server's defaults", async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'mysql'))
  const [session] = await selectRows(
    db,
    `select @@sql_mode as mode, @@tx_isolation as isolation, @@character_set_client as client,
       @@character_set_connection as connection, @@innodb_lock_wait_timeout as seconds`,
  )
  t.match(session, {
    mode: 'ONLY_FULL_GROUP_BY,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
    isolation: 'READ-COMMITTED',
    client: 'utf8mb4',
    connection: 'utf8mb4',
    seconds: 5,
  })
  await migrate(db)
  const tables = await selectRows<{ name: string; engine: string; collation: string }>(
    db,
    `select table_name as name, engine, table_collation as collation
       from information_schema.tables where table_schema = database()`,
  )
  t.ok(tables.length > 8)
  for (const { name, engine, collation } of tables) {
    const expected = name === CHANGE_COUNTER_TABLE ? 'MEMORY' : 'InnoDB'
    t.strictSame([engine, collation], [expected, 'utf8mb4_nopad_bin'], name)
  }
})

/** Returns the one-line message for a location that cannot be opened. */
async function refusal(location: DatabaseLocation): Promise<string> {
  try {
    await closeDatabase(await openDatabase({ location, connectionsMax: 2 }))
  } catch (error) {
    if (error instanceof Error) return error.message
  }
  throw new Error('it was opened')
}

await t.test('a database that cannot be opened gives one line without the secret', async (t) => {
  const { port, createSchema } = await sharedMariadb()
  const url = await createSchema()
  const wrong = new URL(url)
  wrong.password = 's3cret-and-wrong'
  const absent = new URL(url)
  absent.pathname = '/nowhere'
  const closed = new URL(url)
  closed.port = '1'
  const expected: readonly [URL, RegExp][] = [
    [wrong, new RegExp(`^The database 127.0.0.1:${port}/gatehouse_\\w+ cannot .*Access denied`)],
    [absent, /^The database 127.0.0.1:\d+\/nowhere cannot be used: Unknown database 'nowhere'/],
    [
      closed,
      /^The database 127.0.0.1:1\/gatehouse_\w+ cannot be used: .*ECONNREFUSED.*; start the database server, or /,
    ],
  ]
  for (const [url, line] of expected) {
    const message = await refusal({ kind: 'mysql', url })
    t.match(message, line)
    t.notMatch(message, /\n/)
    for (const secret of [MARIADB_PASSWORD, encodeURIComponent(MARIADB_PASSWORD), 's3cret']) {
      t.notOk(message.includes(secret))
    }
  }
  const folder = t.testdir({ file: 'no folder', 'no.db': 'this is not a database at all, no' })
  t.match(await refusal({ kind: 'sqlite', file: join(folder, 'file', 'x.db') }), /ENOTDIR|EEXIST/)
  t.match(
    await refusal({ kind: 'sqlite', file: join(folder, 'no.db') }),
    /not a database; correct database\.url, or /,
  )
})

await t.test('mysql: a server that accepts connections and never answers times out', async (t) => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const startMs = performance.now()
  const url = new URL(`mysql://u:p@127.0.0.1:${port}/x`)
  t.match(await refusal({ kind: 'mysql', url }), /cannot be used/)
  t.ok(performance.now() - startMs < 6_000)
})

await forEachMigrated(t, 'a transaction is committed or rolled back as a whole', async (t, db) => {
  const refusal = new Error('no')
  await t.rejects(
    transaction(db, async (trx) => {
      await aUser(trx, 'ada')
      throw refusal
    }),
    refusal,
  )
  t.equal(await findUser(db, 'ada'), undefined)
  const done = await transaction(db, async (trx) => {
    await aUser(trx, 'ada')
    await t.rejects(aUser(trx, 'ADA'), { failure: 'conflict', message: /already taken/ })
    await aUser(trx, 'bob')
    return 'done'
  })
  t.equal(done, 'done')
  t.equal(
    (await listUsers(db, { page: 1, limit: 10 })).total,
    2,
    'a refused insert is undone alone',
  )
})

await t.test(
  'sqlite: a transaction whose commit failed does not affect the next one',
  async (t) => {
    const db = await openForTest(t, await freshLocation(t, 'sqlite'))
    await migrate(db)
    await db.raw('BEGIN IMMEDIATE')
    await aUser(db, 'ada')
    t.ok(await findUser(db, 'ada'))
  },
)

const PROCESSES = isFullSize ? ['a', 'b', 'c', 'd'] : ['a', 'b']

await t.test('sqlite: several processes write to one file without an error', async (t) => {
  const location = await freshLocation(t, 'sqlite')
  const db = await openForTest(t, location)
  await migrate(db)
  const children = PROCESSES.map((name) => startSqlChild('write', location, name))
  const written = await Promise.all(children.map((child) => child.result))
  t.strictSame(
    written,
    PROCESSES.map(() => 40),
  )
  t.equal((await listUsers(db, { page: 1, limit: 1 })).total, 40 * PROCESSES.length)
})

await t.test('sqlite: waiting for another writer does not block the event loop', async (t) => {
  const location = await freshLocation(t, 'sqlite')
  const one = await openForTest(t, location)
  const two = await openForTest(t, location)
  await migrate(one)
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 10)
  const held = transaction(one, async (trx) => {
    await aUser(trx, 'ada')
    await sleep(400)
  })
  await sleep(20)
  await aUser(two, 'bob')
  clearInterval(timer)
  await held
  t.ok(turns >= 3, `${turns} timer callbacks`)
  t.equal((await listUsers(two, { page: 1, limit: 1 })).total, 2)
})

await t.test(
  'sqlite: a query does not wait for a transaction and reads committed data',
  async (t) => {
    const db = await openForTest(t, await freshLocation(t, 'sqlite'))
    await migrate(db)
    const names = async (asked: Database) =>
      (await listUsers(asked, { page: 1, limit: 9 })).entries.map(({ name }) => name)
    await aUser(db, 'ada')
    await transaction(db, async (trx) => {
      await aUser(trx, 'bob')
      t.strictSame(await names(db), ['ada'], 'outside of the transaction')
      t.strictSame(await names(trx), ['ada', 'bob'], 'inside of the transaction')
    })
    t.strictSame(await names(db), ['ada', 'bob'], 'after the commit')
  },
)

await t.test(
  'sqlite: own changes are visible immediately and those of other processes in the next tick',
  async (t) => {
    const location = await freshLocation(t, 'sqlite')
    const db = await openForTest(t, location)
    await migrate(db)
    const ada = await aUser(db, 'ada')
    const nameNow = () =>
      inTick(() => selectRows(db, 'select full_name from owners where id = ?', [ada.id]))
    t.strictSame(await nameNow(), [{ full_name: '' }])
    t.notOk(nameNow() instanceof Promise, 'queries on an open database are synchronous')
    await db('owners').where({ id: ada.id }).update({ full_name: 'Ada' })
    t.strictSame(nameNow(), [{ full_name: 'Ada' }])
    const { file } = location as Extract<DatabaseLocation, { kind: 'sqlite' }>
    for (const name of ['A', 'B', 'C']) {
      t.ok(nameNow(), 'the query is cached before the change')
      const code = `new (require('better-sqlite3'))('${file}').exec("update owners set full_name = '${name}'")`
      execFileSync(process.execPath, ['-e', code])
      await new Promise((resolve) => setImmediate(resolve))
      t.strictSame(nameNow(), [{ full_name: name }])
    }
  },
)

await t.test('sqlite: a query cannot change data', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  await migrate(db)
  await aUser(db, 'ada')
  await t.rejects(async () => selectRows(db, 'delete from emails returning id'), {
    cause: { code: 'SQLITE_READONLY' },
  })
})

await t.test('sqlite: a request sees a change that was made earlier in its tick', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  await migrate(db)
  const { id } = await aUser(db, 'ada')
  const nameNow = () =>
    inTick(() => selectRows(db, 'select full_name from owners where id = ?', [id]))
  await nameNow()
  // A stopped clock, so that the tick lasts until its turn of the event loop ends.
  const nowMs = performance.now()
  t.intercept(performance, 'now', { value: () => nowMs })
  for (const name of ['A', 'B']) {
    t.ok(nameNow(), 'the query is cached before the change')
    await db.raw('update owners set full_name = ? where id = ?', [name, id])
    t.strictSame(nameNow(), [{ full_name: name }])
  }
})

for (const where of ['', ' after a nested transaction']) {
  await t.test(
    `mysql: a deadlock${where} is retried until both transactions are committed`,
    async (t) => {
      const db = await openForTest(t, await freshLocation(t, 'mysql'))
      await migrate(db)
      const ids = [(await aUser(db, 'ada')).id, (await aUser(db, 'bob')).id]
      const codes: unknown[] = []
      db.on('query-error', (error: { readonly code?: string }) => codes.push(error.code))
      let runs = 0
      const both = deferred(2)
      const swap = (order: readonly number[], language: string) =>
        transaction(db, async (trx) => {
          runs += 1
          for (const id of order) {
            await trx('users').where({ owner_id: id }).update({ language })
            if (where !== '')
              await transaction(trx, async (inner) => await inner('users').first('owner_id'))
            await both.arrive()
          }
        })
      await Promise.all([swap(ids, 'en'), swap(ids.toReversed(), 'de')])
      t.strictSame(codes, ['ER_LOCK_DEADLOCK'], 'there was one deadlock')
      t.equal(runs, 3)
      const languages = await db('users').where('owner_id', '>', 0).distinct('language')
      t.equal(languages.length, 1, 'each transaction was atomic')
    },
  )
}

/**
 * Creates a barrier that holds callers until `count` of them have arrived, and later ones never.
 */
function deferred(count: number): { arrive(): Promise<void> } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let arrived = 0
  return {
    async arrive() {
      arrived += 1
      if (arrived >= count) open()
      await opened
    },
  }
}

await t.test('mysql: a lock that is never released is unavailable', async (t) => {
  const location = await freshLocation(t, 'mysql')
  const db = await openForTest(t, location)
  await migrate(db)
  const ada = await aUser(db, 'ada')
  await db.transaction(async (trx) => {
    await trx('users').where({ owner_id: ada.id }).update({ language: 'en' })
    await transaction(db, async (other) => {
      await other.raw('set session innodb_lock_wait_timeout = 0')
      await other('users').where({ owner_id: ada.id }).update({ language: 'de' })
    }).then(
      () => t.fail('the lock was granted'),
      (error) => t.match(error, { failure: 'unavailable', retryAfterSeconds: 2 }),
    )
  })
})

await forEachDatabase(t, 'a closed database is unavailable', async (t, location) => {
  const db = await openDatabase({ location, connectionsMax: 2 })
  await ping(db)
  await closeDatabase(db)
  await t.rejects(ping(db), { failure: 'unavailable', message: /does not answer/ })
})

/** Returns the error that a query throws or rejects with, or undefined. */
async function thrownBy(ask: () => unknown): Promise<unknown> {
  try {
    await ask()
    return undefined
  } catch (error) {
    return error
  }
}

/** Every kind of query by name. */
function questions(db: Database): Readonly<Record<string, () => unknown>> {
  const page = { page: 1, limit: 10 }
  return {
    ping: () => ping(db),
    findUser: () => findUser(db, 'ada'),
    findPassword: () => findPassword(db, 'ada'),
    listUsers: () => listUsers(db, page),
    createUser: () => aUser(db, 'bob'),
    deleteUser: () => deleteUser(db, 999),
    createToken: () =>
      createToken(db, { userId: 1, name: 'x', hash: 'x', lastEight: 'x', scopes: [] }),
    findTokenWithUser: () => findTokenWithUser(db, 'x'),
    listTokens: () => listTokens(db, 1, page),
    touchToken: () => touchToken(db, 1, 1),
    organizationRole: () => organizationRole(db, 1, 1),
    findRepository: () => findRepository(db, 'ada', 'engine'),
    updateRepository: () => updateRepository(db, 1, { description: 'x' }),
    listRepositoriesOf: () => listRepositoriesOf(db, 1, page),
    enqueueJob: () => enqueueJob(db, { kind: 'sweep', subject: 'x', delayMs: 0 }),
    leaseJob: () => leaseJob(db, { machine: 'x', jobsMax: 1, leaseMs: 1 }),
    migrate: () => migrate(db),
    migrationStatus: () => migrationStatus(db),
    transaction: () => transaction(db, (trx) => findUser(trx, 'ada')),
  }
}

await t.test(
  'mysql: while the server is down all queries fail fast, and then they work again',
  async (t) => {
    const mariadb = await ownMariadb()
    const db = await openForTest(t, await locationOn(mariadb))
    const ada = await aUser(db, 'ada')
    const repository = await aRepository(db, ada.id, 'engine', { isPrivate: true })
    const other = { ...ada, id: 12 }
    const asked = { ...questions(db), access: () => accessToRepository(db, other, repository) }
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      // Makes several connections idle in the pool before the server stops.
      await Promise.all(Array.from({ length: 8 }, () => ping(db)))
      await mariadb.stop(signal)
      for (const [name, ask] of Object.entries(asked)) {
        const startMs = performance.now()
        const error = await thrownBy(ask)
        const tookMs = performance.now() - startMs
        t.ok(isFailure(error, 'unavailable'), `${name} after ${signal}: ${String(error)}`)
        t.equal((error as Failure).retryAfterSeconds, 2, name)
        t.ok(tookMs < 4_000, `${name} took ${tookMs} ms`)
      }
      await mariadb.start()
      t.equal((await findUser(db, 'ada'))?.id, ada.id, `after ${signal} the database works again`)
    }
  },
)

await t.test('mysql: a server that stops in a transaction is unavailable', async (t) => {
  const mariadb = await ownMariadb()
  const db = await openForTest(t, await locationOn(mariadb))
  const work = transaction(db, async (trx) => {
    await aUser(trx, 'ada')
    await mariadb.stop('SIGKILL')
    await aUser(trx, 'bob')
  })
  await t.rejects(work, { failure: 'unavailable', message: /does not answer/ })
  await mariadb.start()
  t.equal((await listUsers(db, { page: 1, limit: 1 })).total, 0)
})

await t.test('mysql: a connection that the server has closed is replaced', async (t) => {
  const mariadb = await sharedMariadb()
  const db = await openForTest(t, await freshLocation(t, 'mysql'))
  const connectionId = async () => {
    const [[row]] = await db.raw('select connection_id() as id')
    return Number(row.id)
  }
  const id = await connectionId()
  await mariadb.run(`kill ${id}`)
  await sleep(100)
  t.not(await connectionId(), id)
})

await t.test(
  'mysql: a query that finds all connections in use waits for a limited time',
  async (t) => {
    const location = await freshLocation(t, 'mysql')
    const db = await openDatabase({ location, connectionsMax: 1 })
    t.teardown(() => closeDatabase(db))
    const startMs = performance.now()
    await transaction(db, async () => {
      await t.rejects(ping(db), { failure: 'unavailable', message: /does not answer/ })
    })
    const tookMs = performance.now() - startMs
    t.ok(tookMs > 2_000 && tookMs < 6_000, `${tookMs} ms`)
    await ping(db)
  },
)
