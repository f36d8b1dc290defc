/** Signing keys: one newest key per owner and format, and former ones until they expire. */

import t from 'tap'
import type { Database } from '../../../sql/database/database.js'
import { findIndex } from '../../../sql/packages/package-indexes.js'
import {
  addSigningKey,
  type KeptKey,
  listSigningKeys,
  retireDueKeys,
  retireFormerKeys,
  rotateSigningKey,
} from '../../../sql/packages/signing-keys.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication, namespaceOf } from '../../helpers/package-rows.js'
import { aUser } from '../../helpers/rows.js'

const HOUR_MS = 3_600_000

const keyOf = (name: string) => ({ privateSealed: `v1:${name}`, publicText: name })

async function namesOf(db: Database, namespace: ReturnType<typeof namespaceOf>) {
  return (await listSigningKeys(db, namespace)).map(({ publicText }) => publicText)
}

/** Returns the newest key; throws if there is none. */
async function newestOf(db: Database, namespace: ReturnType<typeof namespaceOf>): Promise<KeptKey> {
  const [newest] = await listSigningKeys(db, namespace)
  if (newest === undefined) throw new Error('there is no key')
  return newest
}

/**
 * Creates owners with a debian key and the indexes `one` and `two`; ada has an alpine key as well.
 */
async function openSignedFixture(db: Database) {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const stores = {
    ada: namespaceOf(ada.id, 'debian'),
    bob: namespaceOf(bob.id, 'debian'),
    alpine: namespaceOf(ada.id, 'alpine'),
  }
  for (const { ownerId, format } of Object.values(stores)) {
    await addSigningKey(db, namespaceOf(ownerId, format), keyOf('first'))
    const indexes = ['one', 'two'].map((subject) => ({ subject, part: 'x', metadata: {} }))
    await aPublication(db, { ownerId, format, indexes })
  }
  const rotate = async (name: string, overlapMs: number, namespace = stores.ada) => {
    const from = await newestOf(db, namespace)
    const signsUntilMs = Date.now() + overlapMs
    return await rotateSigningKey(db, namespace, { from, to: keyOf(name), signsUntilMs })
  }
  /** Returns the wanted generation of every index, by owner and format. */
  const wanted = async () => {
    const numbers: Record<string, readonly (number | undefined)[]> = {}
    for (const [name, namespace] of Object.entries(stores)) {
      const indexes = await Promise.all(['one', 'two'].map((one) => findIndex(db, namespace, one)))
      numbers[name] = indexes.map((index) => index?.wanted)
    }
    return numbers
  }
  return { ...stores, rotate, wanted }
}

await forEachMigrated(
  t,
  'the first key is kept and is found by owner and format',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    const namespace = namespaceOf(ada.id, 'debian')
    t.strictSame(await listSigningKeys(db, namespace), [])
    const beforeMs = Date.now()
    t.equal(await addSigningKey(db, namespace, keyOf('first')), true)
    t.equal(await addSigningKey(db, namespace, keyOf('second')), false)
    const [kept, ...more] = await listSigningKeys(db, namespace)
    t.match(kept, { ...keyOf('first'), signsUntilMs: undefined })
    t.ok(Number(kept?.createdAtMs) >= beforeMs)
    t.strictSame(more, [])
    for (const other of [namespaceOf(bob.id, 'debian'), namespaceOf(ada.id, 'alpine')]) {
      t.strictSame(await listSigningKeys(db, other), [])
      t.equal(await addSigningKey(db, other, keyOf('second')), true)
    }
  },
)

await forEachMigrated(
  t,
  'a rotation changes the keys and indexes of one owner and format',
  async (t, db) => {
    const { ada, bob, alpine, rotate, wanted } = await openSignedFixture(db)
    const [first, untilMs] = [await newestOf(db, ada), Date.now() + HOUR_MS]
    t.strictSame(await wanted(), { ada: [1, 1], bob: [1, 1], alpine: [1, 1] })
    t.equal(await rotate('second', HOUR_MS), true)
    t.strictSame(await namesOf(db, ada), ['second', 'first'], 'the newest first')
    const [newest, former] = await listSigningKeys(db, ada)
    t.equal(newest?.signsUntilMs, undefined)
    t.match(former, { ...keyOf('first'), createdAtMs: first.createdAtMs })
    t.ok(Math.abs(Number(former?.signsUntilMs) - untilMs) < HOUR_MS / 2)
    t.strictSame(await wanted(), { ada: [2, 2], bob: [1, 1], alpine: [1, 1] })
    await rotate('third', HOUR_MS)
    t.strictSame(await namesOf(db, ada), ['third', 'second', 'first'])
    for (const namespace of [bob, alpine]) t.strictSame(await namesOf(db, namespace), ['first'])
  },
)

await forEachMigrated(t, 'of two concurrent rotations one succeeds', async (t, db) => {
  const { ada, rotate, wanted } = await openSignedFixture(db)
  const from = await newestOf(db, ada)
  const signsUntilMs = Date.now() + HOUR_MS
  const rotations = ['a', 'b', 'c'].map((name) =>
    rotateSigningKey(db, ada, { from, to: keyOf(name), signsUntilMs }),
  )
  t.strictSame((await Promise.all(rotations)).sort(), [false, false, true])
  t.equal((await listSigningKeys(db, ada)).length, 2)
  t.strictSame((await wanted())['ada'], [2, 2])
  t.equal(await rotate('d', HOUR_MS), true)
})

await forEachMigrated(t, 'no older key signs for longer than the last overlap', async (t, db) => {
  const { ada, rotate } = await openSignedFixture(db)
  await rotate('second', 10 * HOUR_MS)
  await rotate('third', HOUR_MS)
  const untilMs = (await listSigningKeys(db, ada)).map(({ signsUntilMs = 0 }) => signsUntilMs)
  for (const ms of untilMs.slice(1)) t.ok(ms <= Date.now() + HOUR_MS)
  await rotate('fourth', 20 * HOUR_MS)
  const after = (await listSigningKeys(db, ada)).map(({ signsUntilMs = 0 }) => signsUntilMs)
  t.strictSame(after.slice(2), untilMs.slice(1), 'no key signs for longer than before')
  await rotate('fifth', 0)
  t.strictSame(await namesOf(db, ada), ['fifth'], 'without an overlap only the new key signs')
})

await forEachMigrated(
  t,
  'an expired key is deleted, and indexes get a new generation',
  async (t, db) => {
    const { ada, bob, rotate, wanted } = await openSignedFixture(db)
    await rotate('second', HOUR_MS)
    await rotate('third', 2 * HOUR_MS)
    await rotate('second', HOUR_MS, bob)
    t.equal(await retireDueKeys(db), 0)
    t.strictSame(await wanted(), { ada: [3, 3], bob: [2, 2], alpine: [1, 1] })
    const due = { owner_id: ada.ownerId, public_text: 'first' }
    await db('former_signing_keys').where(due).update({ signs_until: 1 })
    t.equal(await retireDueKeys(db), 1)
    t.strictSame(await namesOf(db, ada), ['third', 'second'], 'no other key is deleted')
    t.strictSame(await namesOf(db, bob), ['second', 'first'])
    t.strictSame(await wanted(), { ada: [4, 4], bob: [2, 2], alpine: [1, 1] })
    t.equal(await retireDueKeys(db), 0)
    t.equal(await retireFormerKeys(db, bob), 1, 'also earlier, on request')
    t.equal(await retireFormerKeys(db, bob), 0)
    t.strictSame(await namesOf(db, bob), ['second'])
    t.strictSame(await wanted(), { ada: [4, 4], bob: [3, 3], alpine: [1, 1] })
    await retireFormerKeys(db, ada)
    t.equal(await db('former_signing_keys').first(), undefined, 'no former key is left')
  },
)
