/** Workflow runs with hostile texts. */

import type { Database } from '../../sql/database/database.js'
import { findRepository } from '../../sql/repositories/repositories.js'
import { completeArtifact } from '../../sql/runs/artifacts.js'
import { beginAttempt } from '../../sql/runs/attempts.js'
import { findRunById } from '../../sql/runs/runs.js'
import { findRunningTask, updateTask } from '../../sql/runs/tasks.js'
import { anArtifact } from './artifact-rows.js'
import { aJob, aRun, aRunner, aTask, jobAt, logRows, setStatus } from './run-rows.js'

export interface HostileRuns {
  readonly payloads: readonly string[]
  /** Path of the page of runs, in ada's repository `hostile`. */
  readonly path: string
}

/** Writes the payloads to runs, jobs, logs and runners. Returns the paths of their pages. */
export async function addHostileRuns(db: Database, { payloads, path }: HostileRuns) {
  const repository = await findRepository(db, 'ada', 'hostile')
  if (repository === undefined) throw new Error('The repository does not exist.')
  const repositoryId = repository.id
  const [first = '', second = ''] = payloads
  const texts = {
    workflowFile: first,
    workflowName: second,
    title: first,
    reference: `refs/heads/${first}`,
  }
  await aRun(db, repositoryId, { ...texts, jobs: [], fault: payloads.join('\n') })
  const waits = aJob('waits', { name: second, labels: payloads })
  const fails = aJob('fails', { name: first, needs: ['waits'], stepNames: [...payloads, ' '] })
  const run = await aRun(db, repositoryId, { ...texts, jobs: [waits, fails] })
  await setStatus(db, await jobAt(db, run, 0), 'waiting', { reason: first })
  const lines = payloads.flatMap((text) => [
    text,
    `\u001b[1;31m${text}\u001b[0m\u001b]8;;${text}\u0007`,
    `::error file=${text}::${text}`,
    `##[warning]${text}`,
    `::notice::${text}`,
    `::debug::${text}`,
    `::group::${text}`,
    `\u202e${text}`,
  ])
  const colors = [30, 31, 32, 33, 34, 35, 36, 37].map((code) => `\u001b[${code}mcolor`)
  const rows = logRows(...lines, ...colors, '##[group]', 'x'.repeat(2_001))
  const job = await jobAt(db, run, 1)
  const taskId = await aTask(db, job, { repositoryId, status: 'failure', rows })
  const state = { startedAtMs: 1_000, stoppedAtMs: 2_000, firstRow: 1, rowCount: rows.length - 2 }
  await updateTask(db, taskId, { steps: [{ ...state, result: 'failure' }] })
  // The second job has a second attempt, which waits.
  const again = await findRunById(db, run.id)
  if (again === undefined) throw new Error('The run does not exist.')
  const repeated = [await jobAt(db, run, 1)]
  await beginAttempt(db, { run: again, repeated, actorId: repository.owner.id })
  const task = await findRunningTask(db, taskId)
  if (task === undefined) throw new Error('The task has ended.')
  await completeArtifact(db, await anArtifact(db, task, { name: first }))
  await completeArtifact(db, await anArtifact(db, task, { name: second, version: 3 }))
  const runnerId = await aRunner(db, payloads, { repositoryId })
  await db('runners').where({ id: runnerId }).update({ name: first, version: second })
  return {
    runners: path.replace(/\/actions$/, '/settings/actions/runners'),
    'faulty run': `${path}/runs/1`,
    run: `${path}/runs/2`,
    'waiting job': `${path}/runs/2/jobs/0?follow=0`,
    'earlier attempt of a run': `${path}/runs/2?attempt=1`,
    job: `${path}/runs/2/jobs/1?attempt=1`,
  }
}
