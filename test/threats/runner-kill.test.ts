/** Kills of the project's own runner at random moments: each job ends, and runs once at a time. */

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { listProcesses } from '../../cgi/process/process-table.js'
import { sweepRuns } from '../../gateway/runs/sweep-runs.js'
import { readLog } from '../../sql/runs/task-logs.js'
import { runCommand, startCommand } from '../helpers/command-line.js'
import { openContext } from '../helpers/gateway.js'
import { startGatewayWithUsers } from '../helpers/gateway-with-users.js'
import { addRegistrationToken } from '../helpers/runner-client.js'
import { until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import { addWorkflowRepository } from '../helpers/workflow-repository.js'

const KILLS = isFullSize ? 100 : 2
const ROWS = 50
/** Time in which the runner starts and takes the job, and in which it executes the job. */
const STARTED_MS = 1_000
const EXECUTED_MS = 2_500
const WITHIN_MS = 20_000
/** Time after which the server ends the task of a runner that is lost. */
const LOST_MS = 11 * 60_000

t.test('jobs of a runner that is killed end once, with the rows that it sent', async (t) => {
  const gateway = await startGatewayWithUsers(t)
  const { db, port, settings } = gateway
  const { context } = await openContext(t, { location: settings.database.location })
  const engine = await addWorkflowRepository(gateway)
  const cwd = await temporaryFolder(t)
  const [work, lock] = [join(cwd, 'work'), join(cwd, 'lock')]
  await mkdir(work)
  const run = ['runner', 'run', '--isolation', 'none', '--work', work]
  const instance = `http://127.0.0.1:${port}`
  const token = await addRegistrationToken(db)
  await runCommand(t, ['runner', 'register', '--instance', instance, '--token', token], { cwd })

  const script = [
    `mkdir ${lock} || echo twice`,
    `for i in $(seq ${ROWS}); do echo "row $i"; sleep 0.03; done`,
    `rmdir ${lock}`,
  ]
  const workflow = `on: push
jobs:
  a: { runs-on: linux, steps: [{ run: ${JSON.stringify(script.join('\n'))} }] }
`
  const isRunning = async () =>
    (await listProcesses()).some(({ command }) => command.includes(`${work}/`))

  const results: string[] = []
  for (let number = 1; number <= KILLS; number += 1) {
    await engine.commit(`name: Change ${number}\n${workflow}`)
    const killed = await startCommand(t, run, { cwd })
    const isEarly = number % 4 === 0
    if (!isEarly) await killed.says(/task was started/)
    await sleep(Math.random() * (isEarly ? STARTED_MS : EXECUTED_MS))
    await killed.end('SIGKILL')
    t.notOk(await until(isRunning, (is) => !is, WITHIN_MS), 'its steps end with it')
    await rm(lock, { recursive: true, force: true })

    await sweepRuns(context, Date.now() + LOST_MS)
    const next = await startCommand(t, run, { cwd })
    const ended = await engine.endedRun(number)
    await next.end('SIGTERM')
    results.push(ended.status)
    const [job] = await engine.jobs(number)
    if (ended.status === 'failure') t.match(job?.reason, /sent nothing for 10 minutes/)
    const tasks: readonly { id: number }[] = await db('workflow_tasks').where({ job_id: job?.id })
    for (const { id } of tasks) {
      const log = await readLog(db, { taskId: id, firstRow: 0, rowsMax: 1_000 })
      const rows = log.map(({ text }) => text).filter((text) => /^(row \d+|twice)$/.test(text))
      const isWhole = ended.status === 'success' && id === job?.taskId
      const sent = Array.from({ length: isWhole ? ROWS : rows.length }, (_, at) => `row ${at + 1}`)
      t.strictSame(rows, sent)
    }
  }
  t.comment(results.join(' '))
})
