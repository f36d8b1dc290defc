/** Schedules of workflows and their times, on both databases. */

import t from 'tap'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import {
  listDueSchedules,
  listSchedules,
  moveSchedule,
  replaceSchedules,
} from '../../../sql/runs/schedules.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

await forEachMigrated(t, 'schedules that stay in a file keep their time', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const { id: first } = await aRepository(db, ownerId, 'first')
  const { id: second } = await aRepository(db, ownerId, 'second')
  const [daily, upper, weekly] = ['0 0 * * mon', '0 0 * * MON', '@weekly']
  await replaceSchedules(db, first, [
    { file: 'a.yaml', cron: daily, nextAtMs: 10 },
    { file: 'a.yaml', cron: upper, nextAtMs: 20 },
    { file: 'b.yaml', cron: daily, nextAtMs: 30 },
  ])
  await replaceSchedules(db, second, [{ file: 'a.yaml', cron: daily, nextAtMs: 40 }])
  await replaceSchedules(db, first, [
    { file: 'a.yaml', cron: weekly, nextAtMs: 50 },
    { file: 'b.yaml', cron: daily, nextAtMs: 60 },
  ])
  t.match(await listSchedules(db, first), [
    { file: 'a.yaml', cron: weekly, nextAtMs: 50 },
    { file: 'b.yaml', cron: daily, nextAtMs: 30 },
  ])
  t.equal((await listSchedules(db, second)).length, 1)
  await deleteRepository(db, second)
  await replaceSchedules(db, first, [])
  t.strictSame(await listDueSchedules(db, 100, 10), [])
})

await forEachMigrated(t, 'a schedule that was moved is not moved again', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const { id } = await aRepository(db, ownerId, 'r')
  const crons = ['@daily', '@hourly', '@weekly']
  const schedules = crons.map((cron, at) => ({ file: 'a.yaml', cron, nextAtMs: 30 - 10 * at }))
  await replaceSchedules(db, id, schedules)
  t.match(await listDueSchedules(db, 20, 10), [{ cron: '@weekly' }, { cron: '@hourly' }])
  const [due] = await listDueSchedules(db, 20, 1)
  if (due === undefined) throw new Error('no schedule is due')
  await moveSchedule(db, due, 40)
  await moveSchedule(db, due, 50)
  t.match(await listDueSchedules(db, 40, 10), [{}, {}, { cron: '@weekly', nextAtMs: 40 }])
  await moveSchedule(db, { ...due, nextAtMs: 40 }, undefined)
  t.equal((await listSchedules(db, id)).length, 2)
})
