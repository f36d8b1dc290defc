/** Failed attempts that several gateways of one database count together. */

import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../conf/database-location.js'
import type { Failure } from '../../../conf/failures.js'
import { type BlockingLimiter, openSharedFailures } from '../../../gateway/auth/shared-failures.js'
import { createLocalThrottle } from '../../../gateway/auth/throttle.js'
import { countFailedKeys } from '../../../sql/accounts/failed-attempts.js'
import { freshLocation, openForTest } from '../../helpers/databases.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const ADA = { name: 'ada', address: '192.0.2.1' }
const WRONG = new Error('wrong')
const THROTTLED = { message: /^Too many/ }

/** Opens the throttle of a gateway with its own counters. */
async function openGateway(t: Test, location: DatabaseLocation, dataDir: string) {
  const db = await openForTest(t, location)
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const failures = openSharedFailures({ db, log, dataDir })
  t.teardown(() => failures.stop())
  const throttle = createLocalThrottle(failures)
  /** Fails to sign in that many times, one after the other, and waits until this is stored. */
  const fail = async (times: number) => {
    for (let n = 0; n < times; n += 1) await throttle.failed(ADA)
    await failures.stop()
  }
  return { db, failures, throttle, lines, fail }
}

async function openGateways(t: Test, kind: DatabaseLocation['kind'] = 'sqlite') {
  const location = await freshLocation(t, kind)
  const dataDir = await temporaryFolder(t)
  const one = await openGateway(t, location, dataDir)
  const two = await openGateway(t, location, dataDir)
  return { location, one, two }
}

for (const kind of ['sqlite', 'mysql'] as const) {
  t.test(`${kind}: failures at two gateways reach a limit together`, async (t) => {
    const { location, one, two } = await openGateways(t, kind)
    await one.fail(5)
    await two.fail(4)
    await two.throttle.check(ADA)
    await two.fail(1)
    await t.rejects(two.throttle.check(ADA), THROTTLED, 'the tenth failure reaches the limit')
    await two.throttle.check({ ...ADA, name: 'bob' })
    await one.throttle.check(ADA)
    await one.fail(1)
    await t.rejects(one.throttle.check(ADA), THROTTLED, 'the other gateway permits one more')

    const hashes: readonly string[] = await one.db('failed_attempts').pluck('key_hash')
    t.equal(hashes.length, 3, 'network, network with account, and account')
    for (const hash of hashes) t.match(hash, /^[0-9a-f]{64}$/)
    const other = await openGateway(t, location, await temporaryFolder(t))
    await other.fail(1)
    t.equal(await countFailedKeys(one.db), 6, 'the hash depends on the secret')
  })
}

t.test('a gateway blocks a key until the window of the first failure ends', async (t) => {
  const { one, two } = await openGateways(t)
  await one.fail(9)
  await one.db('failed_attempts').update({ ends_at: Date.now() + 100_000 })
  await two.fail(1)
  const refused = await two.throttle.check(ADA).catch((error: unknown) => error)
  t.match(refused, THROTTLED)
  const { retryAfterSeconds = 0 } = refused as Failure
  t.ok(retryAfterSeconds > 0 && retryAfterSeconds <= 100, `${retryAfterSeconds} s`)
})

t.test('a wrong code counts at all gateways, and a correct one at none', async (t) => {
  const { one, two } = await openGateways(t)
  const judge = async ({ throttle, failures }: typeof one, verify: () => Promise<string>) => {
    try {
      return await throttle.attempt(ADA, verify)
    } finally {
      await failures.stop()
    }
  }
  const correct = async () => 'correct'
  const wrong = () => Promise.reject(WRONG)
  for (let n = 0; n < 20; n += 1) t.equal(await judge(one, correct), 'correct')
  t.equal(await countFailedKeys(one.db), 0)
  for (let n = 0; n < 9; n += 1) await t.rejects(judge(one, wrong), WRONG)
  await t.rejects(judge(two, wrong), WRONG)
  await t.rejects(judge(two, correct), THROTTLED)
  t.equal(await judge(one, correct), 'correct')
})

t.test('accounts that are created at two gateways are limited together', async (t) => {
  const { one, two } = await openGateways(t)
  const address = '192.0.2.1'
  for (let n = 0; n < 19; n += 1) await one.throttle.makeAccount(address)
  await one.failures.stop()
  await two.throttle.makeAccount(address)
  await two.failures.stop()
  await t.rejects(two.throttle.makeAccount(address), THROTTLED)
  await two.failures.stop()
  t.strictSame(
    await two.db('failed_attempts').pluck('failures'),
    [20],
    'a refused one is not added',
  )
})

t.test('a gateway without its database counts its own failures', async (t) => {
  const { one, two } = await openGateways(t)
  await one.db.schema.renameTable('failed_attempts', 'away')
  await one.fail(9)
  await one.throttle.check(ADA)
  await one.fail(1)
  await t.rejects(one.throttle.check(ADA), THROTTLED)
  t.match(one.lines.at(-1), { level: 40, keys: 3, error: { code: 'SQLITE_ERROR' } })
  await one.db.schema.renameTable('away', 'failed_attempts')
  await two.fail(9)
  await one.fail(1)
  t.match(await two.db('failed_attempts').max({ most: 'failures' }), [{ most: 10 }])
})

/** Returns a limiter that has no counter. */
function aLimiter(block: BlockingLimiter['block'] = async () => {}): BlockingLimiter {
  return { keyPrefix: 'test', points: 1, duration: 900, block }
}

t.test('failures during a write are in the next one', async (t) => {
  const { db, failures } = (await openGateways(t)).one
  const limiter = aLimiter(async (key) => {
    if (key.length < 5) failures.add(limiter, `${key}x`)
  })
  failures.add(limiter, 'x')
  await failures.stop()
  t.equal(await countFailedKeys(db), 5)
})

t.test('a flood of keys is stored up to 300 keys in a batch', async (t) => {
  const { db, failures } = (await openGateways(t)).one
  for (let n = 0; n < 400; n += 1) failures.add(aLimiter(), `key ${n}`)
  failures.add(aLimiter(), 'key 0')
  await failures.stop()
  t.equal(await countFailedKeys(db), 300)
  t.match(await db('failed_attempts').max({ most: 'failures' }), [{ most: 2 }])
})

t.test('no key is added to 100,000 keys until some have ended', async (t) => {
  const { one, two } = await openGateways(t)
  await one.db.raw(
    `insert into failed_attempts with recursive n(i) as
      (select 1 union all select i + 1 from n where i < 100000) select printf('%064x', i), 1, ? from n`,
    [Date.now() + 3_600_000],
  )
  await one.fail(10)
  t.equal(await countFailedKeys(one.db), 100_000)
  await t.rejects(one.throttle.check(ADA), THROTTLED)
  await one
    .db('failed_attempts')
    .where('key_hash', '<', '64'.padStart(64, '0'))
    .update({ ends_at: 1 })
  await two.fail(10)
  t.equal(await countFailedKeys(one.db), 100_000 - 99 + 3)
})
