/** Push mirrors: listed, due after their interval, and deleted with their repository. */

import t from 'tap'
import {
  addPushMirror,
  deletePushMirror,
  findPushMirrorById,
  listDuePushMirrors,
  listMirrorsOnPush,
  listPushMirrors,
  notePushMirrorTry,
} from '../../../sql/repositories/push-mirrors.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

await forEachMigrated(t, 'push mirrors are due after their interval', async (t, db) => {
  const { id } = await aRepository(db, (await aUser(db, 'ada')).id, 'r')
  const add = (remoteName: string, intervalMs: number, syncsOnPush = false) =>
    addPushMirror(db, {
      repositoryId: id,
      remoteName,
      url: 'https://code.example.com/x.git',
      credentialsSealed: undefined,
      intervalMs,
      syncsOnPush,
    })
  await add('hourly', 3_600_000, true)
  await add('manual', 0)
  const [hourly, manual] = await listPushMirrors(db, id)
  if (hourly === undefined || manual === undefined) throw new Error('no push mirrors')
  t.match(hourly, { remoteName: 'hourly', syncsOnPush: true, lastError: '' })
  t.match(manual, { remoteName: 'manual', syncsOnPush: false, triedAtMs: undefined })
  t.same(await listMirrorsOnPush(db, id), [hourly.id])
  t.same(await listDuePushMirrors(db, 10), [])
  await db('push_mirrors').where({ id: hourly.id }).update({ next_at: 1 })
  t.same(await listDuePushMirrors(db, 10), [hourly.id])
  await notePushMirrorTry(db, hourly, 'x'.repeat(2_000))
  await notePushMirrorTry(db, manual, '')
  t.same(await listDuePushMirrors(db, 10), [])
  t.match(await findPushMirrorById(db, hourly.id), { lastError: 'x'.repeat(1_000) })
  t.equal(await deletePushMirror(db, id + 1, 'manual'), false)
  t.equal(await deletePushMirror(db, id, 'manual'), true)
  for (let index = 0; index < 19; index += 1) await add(`more-${index}`, 0)
  await t.rejects(add('too-many', 0), /at most 20 push mirrors/)
  await deleteRepository(db, id)
  t.equal(await findPushMirrorById(db, hourly.id), undefined)
})
