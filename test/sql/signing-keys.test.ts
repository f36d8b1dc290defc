/** One signing key for each owner and format, whoever was first. */

import t from 'tap'
import { addSigningKey, findSigningKey } from '../../sql/signing-keys.js'
import { forEachMigrated } from '../helpers/databases.js'
import { shelfOf } from '../helpers/package-rows.js'
import { aUser } from '../helpers/rows.js'

await forEachMigrated(
  t,
  'the first key is kept, and is found by owner and format',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    const shelf = shelfOf(ada.id, 'debian')
    t.equal(await findSigningKey(db, shelf), undefined)
    const first = { privateSealed: 'v1:first', publicText: 'first' }
    t.equal(await addSigningKey(db, shelf, first), true)
    const second = { privateSealed: 'v1:second', publicText: 'second' }
    t.equal(await addSigningKey(db, shelf, second), false)
    t.strictSame(await findSigningKey(db, shelf), first)
    for (const other of [shelfOf(bob.id, 'debian'), shelfOf(ada.id, 'alpine')]) {
      t.equal(await findSigningKey(db, other), undefined)
      t.equal(await addSigningKey(db, other, second), true)
    }
  },
)
