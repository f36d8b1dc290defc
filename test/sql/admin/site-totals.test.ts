/** The numbers of the site: repositories, stored bytes and queues; and its last backups. */

import t from 'tap'
import { addBackup } from '../../../sql/admin/backups.js'
import { enqueueJob, leaseJob, postponeJob } from '../../../sql/admin/jobs.js'
import { readSiteTotals } from '../../../sql/admin/site-totals.js'
import { updateRepository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aPublication } from '../../helpers/package-rows.js'
import { aRepository, aUser } from '../../helpers/rows.js'
import { aRun, jobAt, setStatus } from '../../helpers/run-rows.js'

const WORKER = { machine: 'one', jobsMax: 4, leaseMs: 60_000 }

await forEachMigrated(t, 'sizes are added, and jobs are counted by state', async (t, db) => {
  const queue = { waiting: 0, running: 0, oldestMs: 0 }
  const { databaseBytes, ...empty } = await readSiteTotals(db)
  t.ok(databaseBytes > 50_000, `${databaseBytes}`)
  t.strictSame(empty, {
    repositories: 0,
    repositoryBytes: 0,
    blobBytes: 0,
    jobs: { ...queue, failed: 0 },
    workflowJobs: queue,
    backups: { last: undefined, lastComplete: undefined },
  })
  const { id: ownerId } = await aUser(db, 'ada')
  const repository = await aRepository(db, ownerId, 'one')
  await updateRepository(db, repository.id, { sizeKib: 3 })
  for (const text of ['a', 'bb']) await aPublication(db, { ownerId, text, version: text })
  for (const subject of ['failed', 'running']) {
    await enqueueJob(db, { kind: 'k', subject, delayMs: 0 })
    const job = await leaseJob(db, WORKER)
    if (job !== undefined && subject === 'failed') await postponeJob(db, job, 'no')
  }
  await enqueueJob(db, { kind: 'k', subject: 'waiting', delayMs: -60_000 })
  await enqueueJob(db, { kind: 'k', subject: 'later', delayMs: 60_000 })
  await addBackup(db, { target: '/one', startedAtMs: 7, outcome: 'complete' })
  await addBackup(db, { target: '/two', startedAtMs: 8, outcome: 'failed', problem: 'no' })
  const run = await aRun(db, repository.id)
  await setStatus(db, await jobAt(db, run, 0), 'waiting')
  const { jobs, workflowJobs, ...totals } = await readSiteTotals(db)
  t.match(totals, { repositories: 1, repositoryBytes: 3_072, blobBytes: 3 })
  t.match(jobs, { waiting: 1, running: 1, failed: 1 })
  t.ok(jobs.oldestMs >= 60_000 && jobs.oldestMs < 120_000, `${jobs.oldestMs}`)
  t.match(workflowJobs, { waiting: 1, running: 0 })
  t.match(totals.backups, { last: { target: '/two' }, lastComplete: { target: '/one' } })
})
