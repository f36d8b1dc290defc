/** Users are found by verified addresses, many at a time, in any case. */

import { t } from 'tap'
import { findUsersByEmail } from '../../../sql/accounts/users-by-email.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aUser } from '../../helpers/rows.js'

await forEachMigrated(t, 'users are found by their verified addresses', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const second = { user_id: ada.id, address: 'A@x.test', address_lower: 'a@x.test' }
  await db('emails').insert({ ...second, is_primary: false, is_verified: true })
  const claimed = { user_id: bob.id, address: 'c@x.test', address_lower: 'c@x.test' }
  await db('emails').insert({ ...claimed, is_primary: false, is_verified: false })
  const odd = ["x' or 1=1 --", '', 'ada@example.test '.repeat(20), '☃@x.test', 'c@x.test']
  const wanted = ['ADA@Example.test', 'bob@example.test', 'bob@example.test', 'a@X.test', ...odd]
  const found = await findUsersByEmail(db, wanted)
  t.strictSame([...found].map(([address, { name, email }]) => [address, name, email]).sort(), [
    ['a@x.test', 'ada', 'ada@example.test'],
    ['ada@example.test', 'ada', 'ada@example.test'],
    ['bob@example.test', 'bob', 'bob@example.test'],
  ])
  t.equal((await findUsersByEmail(db, [])).size, 0)
})
