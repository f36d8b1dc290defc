/** Attempts of runs: the rows of the new jobs, and the jobs of each attempt. */

import t from 'tap'
import { beginAttempt } from '../../../sql/runs/attempts.js'
import { changeJob, listJobs } from '../../../sql/runs/run-jobs.js'
import { findRunById } from '../../../sql/runs/runs.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'
import { aJob, aRun } from '../../helpers/run-rows.js'

/** Columns of a job that are not those of the one that it replaces. */
const OWN = `id attempt last_attempt place position status reason task_id created_at started_at
  stopped_at waiting_at group_state`.split(/\s+/)

await forEachMigrated(t, 'new jobs replace earlier ones in the next attempt', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ada.id, 'engine')
  const jobs = [
    aJob('a'),
    aJob('b', {
      needs: ['a'],
      condition: 'always()',
      maxParallel: 3,
      continuesOnError: true,
      environment: 'production',
      stepNames: ['x'],
      concurrency: { group: 'G', cancels: true },
      permissions: {} as never,
    }),
    aJob('c'),
  ]
  await aRun(db, repositoryId)
  const { id } = await aRun(db, repositoryId, { jobs })
  for (const { id: jobId } of await listJobs(db, id)) {
    await changeJob(db, jobId, { from: ['blocked'], to: 'success', reason: 'r', taskId: 7 })
  }
  const keysOf = async (attempt?: number) =>
    (await listJobs(db, id, attempt)).map(
      (job) => `${job.key}${job.position} ${job.attempt}-${job.lastAttempt ?? ''} ${job.status}`,
    )
  const repeat = async (...positions: readonly number[]) =>
    await db.transaction(async (trx) => {
      const run = await findRunById(trx, id)
      const all = await listJobs(trx, id)
      const repeated = positions.flatMap((position) => all[position] ?? [])
      if (run !== undefined) await beginAttempt(trx, { run, repeated, actorId: ada.id })
    })
  await repeat(2, 1)
  t.strictSame(await keysOf(), ['a0 1- success', 'b1 2- blocked', 'c2 2- blocked'])
  await repeat(0, 1)
  t.strictSame(await keysOf(), ['a0 3- blocked', 'b1 3- blocked', 'c2 2- blocked'])
  t.strictSame(await keysOf(1), ['a0 1-2 success', 'b1 1-1 success', 'c2 1-1 success'])
  t.strictSame(await keysOf(2), ['a0 1-2 success', 'b1 2-2 blocked', 'c2 2- blocked'])
  t.strictSame(await keysOf(3), await keysOf())
  t.match(await findRunById(db, id), { attempt: 3, rerunActorId: ada.id })
  const rows: readonly Record<string, unknown>[] = await db('workflow_jobs')
    .where({ run_id: id, job_key: 'b' })
    .orderBy('id')
  const own = new Set(OWN)
  const commonOf = (row: object = {}) =>
    Object.fromEntries(Object.entries(row).filter(([column]) => !own.has(column)))
  t.equal(rows.length, 3)
  t.strictSame(commonOf(rows[1]), commonOf(rows[0]), 'every other column is copied')
  t.strictSame(commonOf(rows[2]), commonOf(rows[0]))
  t.match(rows[2], { task_id: null, reason: '', stopped_at: null, waiting_at: null })
})
