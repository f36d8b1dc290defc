/** A hold is valid until it ends, or for two minutes after its last renewal. */

import { t } from 'tap'
import { beginHold, endHold, HOLD_MS, isHeld, renewHold } from '../../../sql/admin/holds.js'
import { forEachMigrated } from '../../helpers/databases.js'

await forEachMigrated(t, 'a hold ends by itself and cannot be renewed then', async (t, db) => {
  t.equal(await isHeld(db), false)
  const [killed, other] = [await beginHold(db, 'backup'), await beginHold(db, 'backup')]
  t.equal(await isHeld(db), true)
  t.equal(await renewHold(db, killed), true)
  const [row] = await db('holds').where({ id: killed })
  t.ok(row.held_until <= Date.now() + HOLD_MS)
  await db('holds')
    .where({ id: killed })
    .update({ held_until: Date.now() - 1 })
  t.equal(await isHeld(db), true, 'another hold is valid')
  t.equal(await endHold(db, other), true)
  t.equal(await isHeld(db), false)
  t.equal(await renewHold(db, killed), false)
  t.equal(await endHold(db, killed), false)
  await db('holds').insert({ kind: 'backup', held_until: 1 })
  const next = await beginHold(db, 'backup')
  t.strictSame(await db('holds').pluck('id'), [next], 'rows of ended holds are removed')
})
