/** Failed attempts are added by key, and a time window that has ended counts no more. */

import t from 'tap'
import {
  addFailedAttempts,
  countFailedKeys,
  type FailedAttempts,
  removeEndedAttempts,
} from '../../../sql/accounts/failed-attempts.js'
import { READ_CHANGES } from '../../../sql/database/change-counter.js'
import type { Database } from '../../../sql/database/database.js'
import {
  forEachDatabase,
  forEachMigrated,
  freshLocation,
  openForTest,
} from '../../helpers/databases.js'

const NOW = 1_800_000_000_000

/** Returns the entry of a key that is named by one digit. */
function entry(key: string, failures: number, endsAtMs: number): FailedAttempts {
  return { keyHash: key.repeat(64), failures, endsAtMs }
}

/** Adds entries; returns the totals in the order of the keys. */
async function add(db: Database, entries: readonly FailedAttempts[], nowMs = NOW) {
  const totals = await addFailedAttempts(db, entries, nowMs)
  return [...totals].sort((one, other) => (one.keyHash < other.keyHash ? -1 : 1))
}

await forEachMigrated(t, 'failures of a key add up until its window ends', async (t, db) => {
  t.strictSame(await add(db, [entry('b', 1, NOW + 9), entry('a', 2, NOW + 5)]), [
    entry('a', 2, NOW + 5),
    entry('b', 1, NOW + 9),
  ])
  t.strictSame(
    await add(db, [entry('c', 1, NOW + 8), entry('a', 3, NOW + 20)], NOW + 4),
    [entry('a', 5, NOW + 5), entry('c', 1, NOW + 8)],
    'the window ends when the first failure has said',
  )
  t.strictSame(
    await add(db, [entry('a', 4, NOW + 20), entry('b', 4, NOW + 20)], NOW + 5),
    [entry('a', 4, NOW + 20), entry('b', 5, NOW + 9)],
    'a failure at the end of the window begins a new one',
  )
})

await forEachDatabase(t, 'concurrent failures are all counted', async (t, location) => {
  const databases = [await openForTest(t, location), await openForTest(t, location)]
  const keys = [...'0123456789abcdef']
  const rounds = Array.from({ length: 20 }, async (_, n) => {
    const db = databases[n % 2] as Database
    const entries = keys.map((key) => entry(key, 1, NOW + 5))
    return await add(db, n % 3 === 0 ? entries : entries.reverse())
  })
  const seen = (await Promise.all(rounds)).map(([first]) => first?.failures ?? 0)
  t.strictSame(
    seen.sort((one, other) => one - other),
    Array.from({ length: 20 }, (_, n) => n + 1),
    'each total has the own failure',
  )
})

await forEachMigrated(t, 'only keys whose window has ended are deleted', async (t, db) => {
  const many = Array.from({ length: 1_200 }, (_, n) => ({
    keyHash: n.toString(16).padStart(64, '0'),
    failures: 1,
    endsAtMs: NOW + n,
  }))
  for (let at = 0; at < many.length; at += 300) {
    await addFailedAttempts(db, many.slice(at, at + 300), NOW)
  }
  await removeEndedAttempts(db, NOW - 1)
  t.equal(await countFailedKeys(db), 1_200)
  let hasRun = false
  setImmediate(() => {
    hasRun = true
  })
  await removeEndedAttempts(db, NOW + 1_099)
  t.ok(hasRun, 'other events are handled between two deletions')
  t.equal(await countFailedKeys(db), 100)
})

t.test('failures do not change the counter that validates cached results', async (t) => {
  const db = await openForTest(t, await freshLocation(t, 'mysql'))
  const counter = async () => JSON.stringify((await db.raw(READ_CHANGES))[0])
  const before = await counter()
  for (const failures of [1, 2]) {
    t.match(await add(db, [entry('a', 1, NOW + 5)]), [{ failures }])
    t.equal(await countFailedKeys(db), 1)
  }
  t.equal(await counter(), before)
})
