/** Driver errors are translated to failures, and lock conflicts are retried. */

import { t } from 'tap'
import { foldCase } from '../../../sql/database/bindings.js'
import { isLockConflict, translateError } from '../../../sql/database/errors.js'
import { retryLockConflicts } from '../../../sql/database/retry.js'
import { forEachMigrated, freshLocation, openForTest } from '../../helpers/databases.js'
import { aUser } from '../../helpers/rows.js'

function driverError(code: string, more: object = {}): Error {
  return Object.assign(new Error(`from the driver: ${code}`), { code, ...more })
}

t.test('an unreachable database is unavailable with a retry time', async (t) => {
  const away = [
    driverError('ECONNREFUSED'),
    driverError('PROTOCOL_CONNECTION_LOST'),
    driverError('ER_SERVER_SHUTDOWN'),
    driverError('ER_UNKNOWN_COM_ERROR'),
    driverError('SOMETHING_NEW', { fatal: true }),
    driverError('SQLITE_BUSY_SNAPSHOT'),
    driverError('SQLITE_IOERR_FSYNC'),
  ]
  for (const error of away) {
    const translated = translateError(error)
    t.match(translated, { failure: 'unavailable', status: 503, retryAfterSeconds: 2, cause: error })
    t.notMatch(String(translated), /driver/, "the driver's message is not shown")
  }
})

t.test('a database with a full disk is insufficient_storage', async (t) => {
  const codes = ['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'ER_DISK_FULL', 'ER_RECORD_FILE_FULL']
  for (const error of codes.map((code) => driverError(code))) {
    const translated = translateError(error)
    t.match(translated, { failure: 'insufficient_storage', status: 507, cause: error })
    t.notMatch(String(translated), /driver/)
  }
})

t.test('unknown errors are not translated', async (t) => {
  const codes = ['ER_PARSE_ERROR', 'SQLITE_ERROR', 'SQLITE_CORRUPT', 'ER_DUP_ENTRY', '']
  for (const error of codes.map((code) => driverError(code))) t.equal(translateError(error), error)
  for (const thrown of [undefined, 'text', new TypeError('x'), driverError(7 as never)]) {
    t.equal(translateError(thrown), thrown)
  }
})

t.test('a transaction that lost a lock is retried a limited number of times', async (t) => {
  const lost = driverError('ER_LOCK_DEADLOCK')
  t.ok(isLockConflict(lost))
  let runs = 0
  const done = await retryLockConflicts(async () => {
    runs += 1
    if (runs < 3) throw lost
    return 'done'
  })
  t.strictSame([done, runs], ['done', 3])
  runs = 0
  const always = retryLockConflicts(async () => {
    runs += 1
    throw lost
  })
  await t.rejects(always, { failure: 'unavailable', message: /does not answer/ })
  t.equal(runs, 6)
})

t.test('folding a name changes ASCII letters only', async (t) => {
  t.equal(foldCase('AZaz09-_.@'), 'azaz09-_.@')
  t.equal(foldCase('ÀÉ\u212aİ ſ'), 'ÀÉ\u212aİ ſ')
})

await forEachMigrated(t, 'an error of a statement shows no value', async (t, db) => {
  const error = await db.raw('select nothing from nowhere where x = ?', ['s3cret']).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  t.type(error, Error)
  t.notMatch(String(error), /s3cret/)
})

await t.test('mysql: a value too long for its column is an error', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'mysql'))
  await db.raw('create table short (name varchar(3))')
  await t.rejects(db('short').insert({ name: 'long' }), {
    failure: 'invalid',
    message: 'A value is too long.',
  })
})

await t.test('sqlite: a full disk is insufficient_storage until space is free', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  await db.raw('create table large (text text)')
  await db.raw('pragma max_page_count = 20')
  const fill = db.transaction(async (trx) => {
    for (let row = 0; row < 100; row += 1) await trx('large').insert({ text: 'x'.repeat(4_000) })
  })
  await t.rejects(fill, { failure: 'insufficient_storage', message: /disk is full/ })
  await db.raw('pragma max_page_count = 2000')
  await db('large').insert({ text: 'x' })
  t.match(await db('large').count('* as total'), [{ total: 1 }])
})

await t.test('mysql: a full table is insufficient_storage', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'mysql'))
  const fill = db.transaction(async (trx) => {
    await trx.raw('set session max_heap_table_size = 16384')
    await trx.raw('create temporary table large (text varchar(4000)) engine = memory')
    for (let row = 0; row < 100; row += 1) await trx('large').insert({ text: 'x'.repeat(4_000) })
  })
  await t.rejects(fill, { failure: 'insufficient_storage', cause: { errno: 1114 } })
})

await t.test('sqlite: more statements than the cache holds are answered correctly', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'sqlite'))
  for (const round of [1, 2]) {
    for (let index = 0; index < 600; index += 1) {
      const [row] = await db.raw(`select ${index} as answer`)
      if (row.answer !== index) t.fail(`round ${round}: ${index} became ${row.answer}`)
    }
  }
  t.pass('all answers were correct')
})

await forEachMigrated(
  t,
  'a foreign key error is not reported as a name conflict',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const row = { address: 'x@example.test', address_lower: 'x@example.test', is_primary: false }
    await t.rejects(db('emails').insert({ ...row, user_id: ada.id + 1, is_verified: false }), {
      message: /foreign key/i,
    })
  },
)
