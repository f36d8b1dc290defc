/** Kills of the server, a worker and MariaDB while jobs run: rows stay, and jobs end once. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { Result } from '../../gateway/runner-protocol/messages.js'
import { closeDatabase, openDatabase } from '../../sql/database/database.js'
import { findRepository, updateRepository } from '../../sql/repositories/repositories.js'
import { readLog } from '../../sql/runs/task-logs.js'
import { locationOn, ownMariadb } from '../helpers/databases.js'
import { type Gatehouse, startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { pick } from '../helpers/random.js'
import { registerClient } from '../helpers/runner-client.js'
import { killNow, workersOf } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

/** Kills of the server and of workers in turn, and kills of MariaDB, which restarts slowly. */
const KILLS = isFullSize ? 100 : 2
const DATABASE_KILLS = isFullSize ? 100 : 1
const ROWS = 40

const WORKFLOW = "on: push\njobs:\n  a: { runs-on: linux, steps: [{ run: 'true' }] }\n"

t.test('no acknowledged row is lost when the server or a worker is killed', async (t) => {
  const gatehouse = await startGatehouse(t, { isOnDisk: true, workers: 2 })
  const location = { kind: 'sqlite', file: join(gatehouse.dataDir, 'gatehouse.db') } as const
  await runWithKills(t, gatehouse, {
    location,
    kills: KILLS,
    async kill(round) {
      if (round % 2 === 1) return killNow(pick(await workersOf(gatehouse.pid)))
      await gatehouse.stop('SIGKILL')
      await gatehouse.start()
    },
  })
})

t.test('no acknowledged row is lost when MariaDB is killed', async (t) => {
  const mariadb = await ownMariadb()
  const location = await locationOn(mariadb)
  const gatehouse = await startGatehouse(t, { location, workers: 1 })
  await runWithKills(t, gatehouse, {
    location,
    kills: DATABASE_KILLS,
    async kill() {
      await mariadb.stop('SIGKILL')
      await mariadb.start()
    },
  })
  t.notMatch(gatehouse.log(), '"status":500')
})

interface Killing {
  readonly location: DatabaseLocation
  readonly kills: number
  /** Kills a process, which is started again. */
  readonly kill: (round: number) => Promise<void>
}

/** Runs jobs of one runner. At a random moment of each, a process is killed. */
async function runWithKills(
  t: Test,
  gatehouse: Gatehouse,
  { location, kills, kill }: Killing,
): Promise<void> {
  const ada = await gatehouse.addUser('ada')
  await ada.api('POST', '/user/repos', { name: 'engine' })
  const db = await openDatabase({ location, connectionsMax: 1 })
  t.teardown(() => closeDatabase(db))
  const repository = await findRepository(db, 'ada', 'engine')
  if (repository === undefined) throw new Error('The repository was not created.')
  await updateRepository(db, repository.id, { preferences: { has_actions: true } })
  const runner = await registerClient({ port: gatehouse.port, db })
  const cwd = await temporaryFolder(t)
  await git(['init', '--initial-branch=main', 'w'], { cwd })
  const folder = join(cwd, 'w')
  await mkdir(join(folder, '.gitea/workflows'), { recursive: true })
  await writeFile(join(folder, '.gitea/workflows/ci.yaml'), WORKFLOW)
  await git(['add', '.'], { cwd: folder })

  /** Repeats a call while the server or the database is away. */
  const again = async <T>(call: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        const isAway = error instanceof Error && ('code' in error || / 503 /.test(error.message))
        if (!isAway) throw error
        await sleep(50)
      }
    }
  }

  for (let round = 0; round < kills; round += 1) {
    await git(['commit', '--allow-empty', '-m', `Change ${round}`], { cwd: folder })
    await git(['push', ada.remote('ada/engine'), 'main'], { cwd: folder })
    const task = await runner.fetchTask()
    const killing = sleep(Math.random() * 400).then(() => kill(round))
    let acknowledged = 0
    for (let at = 0; at < ROWS; at = acknowledged) {
      const count = Math.min(1 + (at % 3), ROWS - at)
      const rows = Array.from({ length: count }, (_, i) => `row ${at + i}`)
      acknowledged = await again(() => runner.sendRows(task.id, at, rows, at + count === ROWS))
      t.ok(acknowledged >= at, `${acknowledged} rows are acknowledged, at least ${at}`)
      await sleep(10)
    }
    await again(() => runner.report(task.id, Result.SUCCESS))
    await killing
    const log = await readLog(db, { taskId: Number(task.id), firstRow: 0, rowsMax: 1_000 })
    t.strictSame(
      log.map(({ text }) => text),
      Array.from({ length: ROWS }, (_, at) => `row ${at}`),
    )
  }
  const jobs: readonly { status: string }[] = await db('workflow_jobs').select('status')
  t.strictSame(
    jobs.map(({ status }) => status),
    Array.from({ length: kills }, () => 'success'),
  )
  const tasks = await db('workflow_tasks').select('id')
  t.equal(tasks.length, kills, 'each job was executed once')
}
