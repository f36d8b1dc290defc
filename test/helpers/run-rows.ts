/** Rows of workflow runs with default values. */

import { randomUUID } from 'node:crypto'
import type { Database } from '../../sql/database/database.js'
import { createRegistrationToken, registerRunner } from '../../sql/runners/runners.js'
import {
  changeJob,
  listJobs,
  type NewJob,
  type RunJob,
  type RunnerScope,
} from '../../sql/runs/run-jobs.js'
import { createRun, type NewRun, type Run } from '../../sql/runs/runs.js'
import type { RunStatus } from '../../sql/runs/statuses.js'
import {
  appendLogs,
  type LogAppend,
  type LogLimits,
  type LogRow,
  type LogState,
} from '../../sql/runs/task-logs.js'
import { createTask } from '../../sql/runs/tasks.js'

/** Returns a job with this key, which needs no other and any Linux runner. */
export function aJob(key: string, fields: Partial<NewJob> = {}): NewJob {
  const payload = `jobs: { ${key}: {} }`
  return {
    key,
    name: `Job ${key}`,
    needs: [],
    labels: ['linux'],
    stepNames: [],
    payload,
    permissions: undefined,
    condition: undefined,
    failsFast: true,
    maxParallel: undefined,
    continuesOnError: false,
    environment: '',
    isDeferred: false,
    concurrency: undefined,
    ...fields,
  }
}

/** Creates a run of a push to `main`, by default with one job. */
export async function aRun(
  db: Database,
  repositoryId: number,
  fields: Partial<NewRun> = {},
): Promise<Run> {
  const run = await createRun(db, {
    repositoryId,
    workflowFile: 'build.yaml',
    workflowName: 'Build',
    title: 'Fix the build',
    event: 'push',
    reference: 'refs/heads/main',
    commitId: 'a'.repeat(40),
    reportedCommitId: fields.commitId ?? 'a'.repeat(40),
    pull: undefined,
    isFromFork: false,
    needsApproval: false,
    actorId: undefined,
    fault: '',
    eventKey: randomUUID(),
    payload: '{}',
    text: '',
    concurrency: undefined,
    jobs: [aJob('build')],
    ...fields,
  })
  if (run === undefined) throw new Error('The run was not created.')
  return run
}

/** Returns a job of a run. */
export async function jobAt(db: Database, run: Run, position: number): Promise<RunJob> {
  const job = (await listJobs(db, run.id))[position]
  if (job === undefined) throw new Error('The run has no such job.')
  return job
}

/** Sets the status of a job, whatever it is. */
export async function setStatus(
  db: Database,
  job: RunJob,
  to: RunStatus,
  fields: { readonly taskId?: number; readonly reason?: string } = {},
): Promise<void> {
  const startedAtMs = Date.now() - 65_000
  await changeJob(db, job.id, { from: [job.status], to, startedAtMs, ...fields })
}

/** Registers a runner of the site, of an owner or of a repository; returns its id. */
export async function aRunner(
  db: Database,
  labels: readonly string[],
  { ownerId, repositoryId }: Partial<RunnerScope> = {},
): Promise<number> {
  const hash = randomUUID()
  const token = { hash, ownerId, repositoryId, isOnce: true, expiresAtMs: undefined }
  await createRegistrationToken(db, token)
  const runner = await registerRunner(db, {
    registrationHash: hash,
    name: 'runner',
    tokenHash: randomUUID(),
    labels,
    version: '1',
    isEphemeral: false,
  })
  if (runner === undefined) throw new Error('The runner was not registered.')
  return runner.id
}

/** Appends to the log of one task. Returns undefined if the task does not exist. */
export async function appendLog(
  db: Database,
  append: LogAppend,
  limits: LogLimits,
): Promise<LogState | undefined> {
  return (await appendLogs(db, [append], limits)).get(append.taskId)
}

const LIMITS = { rowsMax: 500_000, bytesMax: 67_108_864 }

/** Claims a job; the task has these rows as its log. Returns the id of the task. */
export async function aTask(
  db: Database,
  job: RunJob,
  { repositoryId, status, rows }: ClaimedJob,
): Promise<number> {
  const runnerId = await aRunner(db, job.labels)
  const tokenHash = randomUUID()
  const taskId = await createTask(db, { jobId: job.id, repositoryId, runnerId, tokenHash })
  await setStatus(db, job, status, { taskId })
  await appendLog(db, { taskId, firstRow: 0, rows, isLast: false }, LIMITS)
  return taskId
}

export interface ClaimedJob {
  readonly repositoryId: number
  readonly status: RunStatus
  readonly rows: readonly LogRow[]
}

/** Returns the rows of a log, all with the same time. */
export function logRows(...texts: readonly string[]): readonly LogRow[] {
  return texts.map((text) => ({ atMs: Date.UTC(2026, 0, 2, 3, 4, 5), text }))
}
