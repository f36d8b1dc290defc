/** Two gateways on one MariaDB, and many runners of both: each job is claimed once. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { Result } from '../../gateway/runner-protocol/messages.js'
import { closeDatabase, openDatabase } from '../../sql/database/database.js'
import { findRepository, updateRepository } from '../../sql/repositories/repositories.js'
import { freshLocation } from '../helpers/databases.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { registerClient } from '../helpers/runner-client.js'
import { until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

const RUNNERS = isFullSize ? 50 : 24
const JOBS = isFullSize ? 40 : 20
const WORKERS = isFullSize ? 2 : 1

t.test(`${RUNNERS} runners of two gateways claim each job once`, async (t) => {
  const location = await freshLocation(t, 'mysql')
  const first = await startGatehouse(t, { location, workers: WORKERS })
  const environment = { GATEHOUSE_DATA_DIR: first.dataDir }
  const second = await startGatehouse(t, { location, workers: WORKERS, environment })
  const ada = await first.addUser('ada')
  await ada.api('POST', '/user/repos', { name: 'engine' })
  const connectionsMax = 2
  const db = await openDatabase({ location, connectionsMax })
  t.teardown(() => closeDatabase(db))
  const repository = await findRepository(db, 'ada', 'engine')
  if (repository === undefined) throw new Error('The repository was not created.')
  await updateRepository(db, repository.id, { preferences: { has_actions: true } })

  const ports = [first.port, second.port]
  const runners = await Promise.all(
    Array.from({ length: RUNNERS }, (_, at) => registerClient({ port: ports[at % 2] ?? 0, db })),
  )
  const claimed: bigint[] = []
  const stop = new AbortController()
  const work = runners.map(async (runner) => {
    while (!stop.signal.aborted) {
      const task = await runner.fetchTask(stop.signal)
      if (task === undefined) return
      claimed.push(task.id)
      await runner.sendRows(task.id, 0, ['done'], true)
      await runner.report(task.id, Result.SUCCESS)
    }
  })

  const cwd = await temporaryFolder(t)
  await git(['init', '--initial-branch=main', 'w'], { cwd })
  const folder = join(cwd, 'w')
  await mkdir(join(folder, '.gitea/workflows'), { recursive: true })
  const jobs = Array.from(
    { length: JOBS },
    (_, at) => `  j${at}: { runs-on: linux, steps: [{ run: 'true' }] }`,
  )
  await writeFile(join(folder, '.gitea/workflows/ci.yaml'), `on: push\njobs:\n${jobs.join('\n')}\n`)
  await git(['add', '.'], { cwd: folder })
  await git(['commit', '-m', 'x'], { cwd: folder })
  await git(['push', ada.remote('ada/engine'), 'main'], { cwd: folder })

  const haveSucceeded = async () => {
    // One query, because the jobs may be created between two of them.
    const rows: readonly { status: string }[] = await db('workflow_jobs').select('status')
    return rows.length === JOBS && rows.every(({ status }) => status === 'success')
  }
  t.ok(await until(haveSucceeded, Boolean, 60_000), 'all jobs succeed')
  stop.abort()
  await Promise.all(work)
  t.equal(claimed.length, JOBS, 'each job has one task')
  t.equal(new Set(claimed).size, JOBS)
  const tasks: readonly { job_id: number }[] = await db('workflow_tasks').select('job_id')
  t.equal(new Set(tasks.map(({ job_id }) => job_id)).size, JOBS)
  t.equal(tasks.length, JOBS)
})
