/** Jobs are listed with their state, and a failed one can be retried. */

import { t } from 'tap'
import { listJobs, retryJob } from '../../../sql/admin/job-lists.js'
import { enqueueJob, finishJob, leaseJob, postponeJob } from '../../../sql/admin/jobs.js'
import { forEachMigrated } from '../../helpers/databases.js'

const WORKER = { machine: 'one', jobsMax: 4, leaseMs: 60_000 }
const PAGE = { page: 1, limit: 2 }

await forEachMigrated(t, 'jobs are listed with their state, the next one first', async (t, db) => {
  t.strictSame(await listJobs(db, PAGE), { entries: [], total: 0 })
  for (const [at, subject] of ['first', 'second', 'third'].entries()) {
    await enqueueJob(db, { kind: 'k', subject, delayMs: (at - 1) * 60_000 })
  }
  const job = await leaseJob(db, WORKER)
  if (job === undefined) throw new Error('there is one')
  const { entries, total } = await listJobs(db, PAGE)
  t.equal(total, 3)
  t.match(entries, [
    { subject: 'first', state: 'running', attempts: 1, lastError: undefined },
    { subject: 'second', state: 'waiting', attempts: 0 },
  ])
  t.equal(await retryJob(db, job.id), false, 'a running job is not retried')
  await postponeJob(db, job, `${'long '.repeat(200)}`)
  const failed = (await listJobs(db, { page: 1, limit: 9 })).entries.find(({ id }) => id === job.id)
  t.match(failed, { state: 'failed', attempts: 1, lastError: /^long long/ })
  t.equal(failed?.lastError?.length, 500)
  t.equal(await leaseJob(db, WORKER).then((next) => next?.subject), 'second')
  t.equal(await retryJob(db, job.id), true)
  const again = await leaseJob(db, WORKER)
  t.match(again, { subject: 'first', attempts: 2 })
  await enqueueJob(db, { kind: 'k', subject: 'first', delayMs: 0 })
  if (again !== undefined) await finishJob(db, again)
  const waiting = (await listJobs(db, { page: 1, limit: 9 })).entries
  t.match(
    waiting.find(({ subject }) => subject === 'first'),
    {
      state: 'waiting',
      lastError: undefined,
    },
  )
  t.equal(await retryJob(db, job.id), false, 'a job that has not failed is not retried')
})
