/** Cached results of MySQL have every change that was acknowledged, by any process. */

import { randomInt } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../conf/database-location.js'
import {
  COUNT_CHANGE,
  READ_CHANGES,
  SharedRead,
  usesOnlyUncounted,
} from '../../../sql/database/change-counter.js'
import { type Database, transaction } from '../../../sql/database/database.js'
import { selectRows } from '../../../sql/database/dialect.js'
import { isUniqueViolation } from '../../../sql/database/errors.js'
import { freshLocation, locationOn, openForTest, ownMariadb } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'
import { appendLog, aRun, aTask, jobAt, logRows } from '../../helpers/run-rows.js'
import { isFullSize } from '../../helpers/test-size.js'

const ROUNDS = isFullSize ? 2_000 : 80
const READ = 'select value from numbers where id = ?'

t.test('a shared read never began before the call that it answers', async (t) => {
  let now = 0
  let reads = 0
  const shared = new SharedRead(async () => {
    reads += 1
    const value = now
    await nextTurn()
    return value
  })
  const ask = async () => {
    const askedAt = now
    t.ok((await shared.value()) >= askedAt)
  }
  const asking: Promise<void>[] = []
  for (; now < 50; now += 1) {
    asking.push(ask(), ask())
    if (now % 3 === 0) await nextTurn()
  }
  await Promise.all(asking)
  t.ok(reads < 50, `${reads} reads for 100 calls`)
  const broken = new SharedRead(async () => {
    throw new Error('the server is away')
  })
  await t.rejects(broken.value(), { message: 'the server is away' })
  await t.rejects(broken.value(), { message: 'the server is away' }, 'each call reads again')
})

t.test('the value just read is current until its readers wait for something else', async (t) => {
  let reads = 0
  let duringRead = () => {}
  const shared = new SharedRead(async () => {
    await nextTurn()
    duringRead()
    reads += 1
    return reads
  })
  const currents = async () => {
    t.equal(shared.current, undefined)
    const value = await shared.value()
    const first = shared.current?.value
    await undefined
    const second = shared.current?.value
    await nextTurn()
    return [value, first, second, shared.current]
  }
  t.strictSame(await Promise.all([currents(), currents()]), [
    [1, 1, 1, undefined],
    [1, 1, 1, undefined],
  ])
  t.strictSame(await currents(), [2, 2, 2, undefined])
  duringRead = () => shared.noteChange()
  t.strictSame(await currents(), [3, undefined, undefined, undefined], 'changed during the read')
})

t.test('calls directly after a read share the next one with those during it', async (t) => {
  let reads = 0
  let during: Promise<number> | undefined
  const shared: SharedRead<number> = new SharedRead(async () => {
    reads += 1
    const value = reads
    during ??= shared.value()
    await nextTurn()
    return value
  })
  t.equal(await shared.value(), 1)
  await nextTurn()
  t.strictSame(await Promise.all([during, shared.value()]), [2, 2])
})

/** Opens the same database as two workers do, with a table of numbers. */
async function twoWorkers(
  t: Test,
  given?: DatabaseLocation,
): Promise<readonly [Database, Database]> {
  const location = given ?? (await freshLocation(t, 'mysql'))
  const [one, two] = [await openForTest(t, location), await openForTest(t, location)]
  await one.raw('create table numbers (id int primary key, value int not null)')
  for (let id = 0; id < 4; id += 1) await one('numbers').insert({ id, value: 0 })
  return [one, two]
}

async function read(db: Database, id: number): Promise<number> {
  const [row] = await selectRows<{ value: number }>(db, READ, [id])
  return row?.value ?? -1
}

/** Number of queries by all clients of the server, without prepared ones such as the counter's. */
async function queriesOf(db: Database): Promise<number> {
  const [[row]] = await db.raw("show global status like 'Com_select'")
  return Number(row.Value)
}

t.test('equal queries between two changes are sent once', async (t) => {
  // Other test files send queries to the server of the run.
  const [one, two] = await twoWorkers(t, await locationOn(await ownMariadb()))
  await read(one, 1)
  const rows = await selectRows(one, READ, [1])
  t.equal(await selectRows(one, READ, [1]), rows, 'the same rows')
  await two('numbers').where({ id: 1 }).update({ value: 5 })
  t.equal(await read(one, 1), 5)
  const before = await queriesOf(one)
  for (let at = 0; at < 20; at += 1) await read(one, 1)
  const sent = (await queriesOf(one)) - before
  t.ok(sent < 20, `${sent} queries for 20 reads`)
})

type Write = (db: Database, id: number, value: number) => Promise<unknown>

const WRITES: Readonly<Record<string, Write>> = {
  statement: async (db, id, value) => await db('numbers').where({ id }).update({ value }),
  transaction: async (db, id, value) =>
    await transaction(db, async (trx) => await trx('numbers').where({ id }).update({ value })),
  'nested transaction': async (db, id, value) =>
    await transaction(db, async (trx) => {
      await transaction(
        trx,
        async (inner) => await inner('numbers').where({ id }).update({ value }),
      )
    }),
}

for (const [kind, write] of Object.entries(WRITES)) {
  t.test(`a change by a ${kind} is seen by the next read of every worker`, async (t) => {
    const workers = await twoWorkers(t)
    const acknowledged = [0, 0, 0, 0]
    const faults: string[] = []
    let isOver = false
    const writeOn = async (id: number, db: Database) => {
      for (let value = 1; value <= ROUNDS; value += 1) {
        await write(db, id, value)
        acknowledged[id] = value
      }
    }
    const readOn = async (db: Database) => {
      while (!isOver) {
        const id = randomInt(4)
        const expected = acknowledged[id] ?? 0
        const value = await read(db, id)
        if (value < expected) faults.push(`${value} after ${expected}`)
        await nextTurn()
      }
    }
    const readers = [...workers, ...workers].map(readOn)
    await Promise.all([0, 1, 2, 3].map((id) => writeOn(id, workers[id % 2] as Database)))
    isOver = true
    await Promise.all(readers)
    t.strictSame(faults, [])
  })
}

for (const [kind, write] of Object.entries(WRITES)) {
  t.test(`code sees its own change by a ${kind}, also if it read beside it`, async (t) => {
    const [one] = await twoWorkers(t)
    const seen: number[] = []
    for (let value = 1; value <= ROUNDS; value += 1) {
      let isWritten = false
      const done = write(one, 1, value).then(() => {
        isWritten = true
      })
      for (;;) {
        await read(one, 2)
        if (isWritten) break
        await nextTurn()
      }
      seen.push(await read(one, 1))
      await done
    }
    t.strictSame(
      seen,
      seen.map((_, at) => at + 1),
    )
  })
}

t.test('the result of a query that a change overtook is not kept', async (t) => {
  const [one, two] = await twoWorkers(t)
  const slow = 'select value, sleep(0.3) from numbers where id = ?'
  const asking = selectRows<{ value: number }>(one, slow, [1])
  await sleep(100)
  await two('numbers').where({ id: 1 }).update({ value: 5 })
  t.equal(await read(one, 1), 5)
  t.equal((await asking)[0]?.value, 0, 'its rows were read before the change')
  const [row] = await selectRows<{ value: number }>(one, slow, [1])
  t.equal(row?.value, 5)
})

t.test('code that a constraint refuses sees the row that another one has added', async (t) => {
  const workers = await twoWorkers(t)
  const missing: number[] = []
  for (let id = 10; id < 10 + ROUNDS; id += 1) {
    const add = async (db: Database) => {
      await read(db, id)
      const insert = async (target: Database) => await target('numbers').insert({ id, value: 1 })
      await (id % 2 === 0 ? insert(db) : transaction(db, insert)).catch((error: unknown) => {
        if (!isUniqueViolation(error)) throw error
      })
      if ((await read(db, id)) !== 1) missing.push(id)
    }
    await Promise.all([...workers, ...workers, ...workers].map(add))
  }
  t.strictSame(missing, [])
})

t.test('a result is read again after a second, also if no change was counted', async (t) => {
  const [one] = await twoWorkers(t)
  t.equal(await read(one, 1), 0)
  // A gateway that is killed between its change and the counter leaves this state.
  const connection = await one.client.acquireRawConnection()
  t.teardown(() => one.client.destroyRawConnection(connection))
  await new Promise((resolve) => connection.query('update numbers set value = 7', resolve))
  const deadlineMs = Date.now() + 5_000
  while ((await read(one, 1)) !== 7 && Date.now() < deadlineMs) await sleep(50)
  t.equal(await read(one, 1), 7)
})

t.test('a restart of the server empties the counter, and nothing stale is read', async (t) => {
  const mariadb = await ownMariadb()
  const location = await locationOn(mariadb)
  const one = await openForTest(t, location)
  await one.raw('create table numbers (id int primary key, value int not null)')
  await one('numbers').insert({ id: 1, value: 0 })
  t.equal(await read(one, 1), 0)
  await mariadb.stop('SIGTERM')
  await mariadb.start()
  const two = await openForTest(t, location)
  await two('numbers').where({ id: 1 }).update({ value: 1 })
  const value = await read(one, 1).catch(() => read(one, 1))
  t.equal(value, 1)
  t.match(COUNT_CHANGE, /uuid/)
})

t.test('writes of logs are not counted, and reads of them are not cached', async (t) => {
  const location = await freshLocation(t, 'mysql')
  const [one, two] = [await openForTest(t, location), await openForTest(t, location)]
  const { id: repositoryId } = await aRepository(one, (await aUser(one, 'ada')).id, 'engine')
  const job = await jobAt(one, await aRun(one, repositoryId), 0)
  const taskId = await aTask(one, job, { repositoryId, status: 'running', rows: [] })
  const counter = async () => JSON.stringify((await one.raw(READ_CHANGES))[0])
  const rows = async () => {
    const [row] = await selectRows<{ log_rows: number }>(
      one,
      'select l.log_rows from workflow_logs l where l.task_id = ?',
      [taskId],
    )
    return row?.log_rows
  }
  const before = await counter()
  for (let firstRow = 0; firstRow < 5; firstRow += 1) {
    const append = { taskId, firstRow, rows: logRows('x'), isLast: false }
    await appendLog(two, append, { rowsMax: 100, bytesMax: 10_000 })
    t.equal(await rows(), firstRow + 1)
  }
  t.equal(await counter(), before)
  const log = { task_id: taskId }
  await transaction(two, async (trx) => {
    await trx('workflow_logs').where(log).forUpdate().select('log_rows')
    await trx('workflow_tasks').where({ id: taskId }).update({ heard_at: 7 })
    await trx('workflow_log_parts').insert({ ...log, first_row: 5, row_count: 1, content: '' })
  })
  t.not(await counter(), before, 'a transaction that also changes another table')
})

t.test('a statement with another table is counted', async (t) => {
  const counted = [
    'select `a` from `workflow_logs` inner join `users` on `id` = `task_id`',
    'select `a` from `workflow_logs` where `task_id` in (select `id` from `users`)',
    'select (select 1 from users), `a` from `workflow_logs`',
    'insert into `workflow_logs` (`task_id`) select `id` from `users`',
    'update `workflow_logs` set `log_rows` = ?',
    'delete from `workflow_logs`',
    'insert into `users` (`name`) values (?)',
    'select `workflow_logs` from `users`',
  ]
  for (const sql of counted) t.notOk(usesOnlyUncounted(sql), sql)
})
