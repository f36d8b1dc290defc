/** Signing keys are made once, and the database alone does not reveal them. */

import t from 'tap'
import { openInstanceSecret } from '../../conf/instance-secret.js'
import { createSigningKeys } from '../../registry/signing-keys.js'
import { forEachMigrated } from '../helpers/databases.js'
import { namespaceOf } from '../helpers/package-rows.js'
import { aUser } from '../helpers/rows.js'
import { temporaryFolder } from '../helpers/temporary.js'

const HOUR_MS = 3_600_000

const makerOf = (name: string) => async () => ({
  privateKey: `private ${name}`,
  publicKey: `public ${name}`,
})

await forEachMigrated(t, 'a key is made once for any number of callers', async (t, db) => {
  const secret = await openInstanceSecret(await temporaryFolder(t))
  // Two key stores over one database, like two processes.
  const processes = [createSigningKeys(db, secret), createSigningKeys(db, secret)]
  const { id } = await aUser(db, 'ada')
  let made = 0
  const make = async () => {
    made += 1
    const number = made
    await new Promise((resolve) => setTimeout(resolve, 20))
    return { privateKey: `private ${number}`, publicKey: `public ${number}` }
  }
  const asked = await Promise.all(
    [...processes, ...processes, ...processes].map((keys) =>
      keys.of(namespaceOf(id, 'debian'), make),
    ),
  )
  t.ok(made <= 2, 'at most one per process')
  const [first = []] = asked
  for (const keys of asked) t.strictSame(keys, first)
  t.equal(first.length, 1)
  t.equal(
    first[0]?.privateKey.replace('private', 'public'),
    first[0]?.publicKey,
    'private and public key belong together',
  )
  await processes[0]?.of(namespaceOf(id, 'alpine'), make)
  t.ok(made <= 3)
})

await forEachMigrated(t, 'the private key is sealed for its owner and format', async (t, db) => {
  const secret = await openInstanceSecret(await temporaryFolder(t))
  const keys = createSigningKeys(db, secret)
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const make = makerOf('one')
  await keys.of(namespaceOf(ada.id, 'debian'), make)
  await keys.rotate(namespaceOf(ada.id, 'debian'), makerOf('two'), {
    signsUntilMs: Date.now() + HOUR_MS,
  })
  const tables = ['signing_keys', 'former_signing_keys']
  for (const table of tables) {
    const rows = JSON.stringify(await db(table).select())
    t.match(rows, /public (one|two)/)
    t.notMatch(rows, /private (one|two)/)
    await db(table).update({ owner_id: bob.id })
  }
  await t.rejects(
    keys.of(namespaceOf(bob.id, 'debian'), make),
    'it cannot be moved to another owner',
  )
  const elsewhere = await openInstanceSecret(await temporaryFolder(t))
  for (const table of tables) await db(table).update({ owner_id: ada.id })
  t.equal((await keys.of(namespaceOf(ada.id, 'debian'), make)).length, 2)
  await t.rejects(createSigningKeys(db, elsewhere).of(namespaceOf(ada.id, 'debian'), make))
})

await forEachMigrated(t, 'a rotation puts a new key before the old ones', async (t, db) => {
  const secret = await openInstanceSecret(await temporaryFolder(t))
  const keys = createSigningKeys(db, secret)
  const namespace = namespaceOf((await aUser(db, 'ada')).id, 'debian')
  const until = { signsUntilMs: Date.now() + HOUR_MS }
  const never = async () => {
    throw new Error('a key was made')
  }
  await t.rejects(keys.rotate(namespace, never, until), { message: /^There is no key yet/ })
  await keys.of(namespace, makerOf('one'))
  await keys.rotate(namespace, makerOf('two'), until)
  t.strictSame(await keys.of(namespace, never), [await makerOf('two')(), await makerOf('one')()])
  const other = createSigningKeys(db, await openInstanceSecret(await temporaryFolder(t)))
  await t.rejects(other.rotate(namespace, never, until), {
    failure: 'conflict',
    message: /another secret\.key/,
  })
  const racing = ['three', 'four'].map((name) => keys.rotate(namespace, makerOf(name), until))
  const results = await Promise.allSettled(racing)
  t.strictSame(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  t.match(
    results.find(({ status }) => status === 'rejected'),
    { reason: { failure: 'conflict' } },
  )
  t.equal((await keys.of(namespace, never)).length, 3)
})
