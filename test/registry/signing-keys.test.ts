/** A signing key is made once, and the database alone is of no use to who reads it. */

import t from 'tap'
import { openInstanceSecret } from '../../conf/instance-secret.js'
import { createSigningKeys } from '../../registry/signing-keys.js'
import { forEachMigrated } from '../helpers/databases.js'
import { shelfOf } from '../helpers/package-rows.js'
import { aUser } from '../helpers/rows.js'
import { temporaryFolder } from '../helpers/temporary.js'

await forEachMigrated(t, 'a key is made once for any number of askers', async (t, db) => {
  const secret = await openInstanceSecret(await temporaryFolder(t))
  // Two processes over one database.
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
    [...processes, ...processes, ...processes].map((keys) => keys.of(shelfOf(id, 'debian'), make)),
  )
  t.ok(made <= 2, 'at most one by each process')
  const [first] = asked
  for (const key of asked) t.strictSame(key, first)
  t.equal(first?.privateKey.replace('private', 'public'), first?.publicKey, 'and its halves fit')
  await processes[0]?.of(shelfOf(id, 'alpine'), make)
  t.ok(made <= 3)
})

await forEachMigrated(t, 'the private half is sealed for its owner and format', async (t, db) => {
  const secret = await openInstanceSecret(await temporaryFolder(t))
  const keys = createSigningKeys(db, secret)
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const make = async () => ({ privateKey: 'a private key', publicKey: 'a public key' })
  await keys.of(shelfOf(ada.id, 'debian'), make)
  const rows = await db('signing_keys').select()
  t.notMatch(JSON.stringify(rows), /a private key/)
  await db('signing_keys').update({ owner_id: bob.id })
  await t.rejects(keys.of(shelfOf(bob.id, 'debian'), make), 'it cannot be moved to another owner')
  const elsewhere = await openInstanceSecret(await temporaryFolder(t))
  await db('signing_keys').update({ owner_id: ada.id })
  await t.rejects(createSigningKeys(db, elsewhere).of(shelfOf(ada.id, 'debian'), make))
})
