/** Jobs of workflow runs. */

import type { JobPermissions } from '../../conf/job-permissions.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { cut, NAME_CHARACTERS_MAX } from './cut.js'
import {
  type Concurrency,
  columnsOf,
  MEMBERSHIP,
  type Membership,
  type MembershipRow,
  membershipOf,
} from './groups.js'
import type { RunStatus } from './statuses.js'

export interface RunJob {
  readonly id: number
  readonly runId: number
  /** First attempt of the run that the job belongs to. */
  readonly attempt: number
  /** Last attempt that the job belongs to; undefined if it belongs to the newest one. */
  readonly lastAttempt: number | undefined
  /** Position within the attempts; the first job has 0. */
  readonly position: number
  /**
   * Key below `jobs` in the file, which all jobs of a matrix have. For a job that another has
   * become, that of the other one and a slash are before it.
   */
  readonly key: string
  /** The job that has become this one and others; undefined for jobs of the file. */
  readonly parentId: number | undefined
  /** True if the job waits for the server, which plans it then; no runner takes it. */
  readonly isDeferred: boolean
  /** File of the job, if jobs of it are deferred, or if it was called; undefined for others. */
  readonly planId: number | undefined
  readonly name: string
  /** Name of the environment; empty if the file names none. */
  readonly environment: string
  /** Keys of the jobs that must end before. */
  readonly needs: readonly string[]
  /** Labels that a runner must have. */
  readonly labels: readonly string[]
  readonly stepNames: readonly string[]
  /** Value of `if`. */
  readonly condition: string | undefined
  /** True if the failure of the job cancels the others with its key. */
  readonly failsFast: boolean
  /** Maximum number of jobs with the key that wait or run; undefined if there is no limit. */
  readonly maxParallel: number | undefined
  /** True if a failure of the job counts as a success for the run and for other jobs. */
  readonly continuesOnError: boolean
  /** Permissions of the job's token; undefined if the file names none. */
  readonly permissions: JobPermissions | undefined
  /** Concurrency group of the job; undefined if the file names none. */
  readonly membership: Membership | undefined
  readonly status: RunStatus
  /** The last task of the job; undefined if no runner has claimed it. */
  readonly taskId: number | undefined
  /** Reason for the status, if the runner is not the reason; may be empty. */
  readonly reason: string
  readonly createdAtMs: number
  readonly startedAtMs: number | undefined
  readonly stoppedAtMs: number | undefined
}

export interface NewJob
  extends Pick<
    RunJob,
    | 'key'
    | 'name'
    | 'environment'
    | 'needs'
    | 'labels'
    | 'stepNames'
    | 'condition'
    | 'failsFast'
    | 'maxParallel'
    | 'continuesOnError'
    | 'isDeferred'
    | 'permissions'
  > {
  /** Workflow with this one job, for the runner. */
  readonly payload: string
  readonly concurrency: Concurrency | undefined
}

/** The place of new jobs in their run. */
export interface JobsPlace {
  readonly runId: number
  /** The attempt of the run. */
  readonly attempt: number
  /** Position of the first job. */
  readonly position: number
  readonly parentId?: number | undefined
  /** File of the jobs, if jobs of it are deferred, or if it was called. */
  readonly planId: number | undefined
}

/** Inserts blocked jobs. */
export async function insertJobs(
  trx: Database,
  { runId, attempt, position, parentId, planId }: JobsPlace,
  jobs: readonly NewJob[],
): Promise<void> {
  const nowMs = Date.now()
  for (const [index, job] of jobs.entries()) {
    await trx('workflow_jobs').insert({
      run_id: runId,
      attempt,
      position: position + index,
      parent_id: parentId ?? null,
      is_deferred: job.isDeferred,
      plan_id: planId ?? null,
      job_key: job.key,
      name: cut(job.name, NAME_CHARACTERS_MAX),
      environment: cut(job.environment, NAME_CHARACTERS_MAX),
      needs: JSON.stringify(job.needs),
      labels: JSON.stringify(job.labels),
      step_names: JSON.stringify(job.stepNames),
      job_condition: job.condition ?? null,
      payload: job.payload,
      permissions: job.permissions === undefined ? null : JSON.stringify(job.permissions),
      fails_fast: job.failsFast,
      max_parallel: job.maxParallel ?? null,
      continues_on_error: job.continuesOnError,
      ...columnsOf(job.concurrency),
      status: 'blocked',
      task_id: null,
      reason: '',
      created_at: nowMs,
      started_at: null,
      stopped_at: null,
    })
  }
}

/** Returns the jobs of an attempt of a run in their order; by default of the newest attempt. */
export async function listJobs(
  db: Database,
  runId: number,
  attempt?: number,
): Promise<readonly RunJob[]> {
  const order = `order by ${POSITION}`
  if (attempt === undefined) {
    return await selectJobs(db, `j.run_id = ? and j.last_attempt is null ${order}`, [runId])
  }
  const condition = 'j.attempt <= ? and (j.last_attempt is null or j.last_attempt >= ?)'
  return await selectJobs(db, `j.run_id = ? and ${condition} ${order}`, [runId, attempt, attempt])
}

/** Returns a job by its id. */
export async function findJob(db: Database, id: number): Promise<RunJob | undefined> {
  const [job] = await selectJobs(db, 'j.id = ?', [id])
  return job
}

/** Returns the ids of the deferred jobs that have waited for the server since before this time. */
export async function listDeferredJobs(
  db: Database,
  beforeMs: number,
  limit: number,
): Promise<readonly number[]> {
  const rows = await selectRows<{ id: number }>(
    db,
    `select j.id from workflow_jobs j
      where j.status = 'waiting' and j.waiting_at < ? and j.is_deferred = 1
      order by j.waiting_at limit ?`,
    [beforeMs, limit],
  )
  return rows.map(({ id }) => id)
}

/** Returns the position of the next job of a run. */
export async function nextPosition(trx: Database, runId: number): Promise<number> {
  const [last] = await selectRows<{ position: number | null }>(
    trx,
    'select max(j.position) as position from workflow_jobs j where j.run_id = ?',
    [runId],
  )
  return (last?.position ?? -1) + 1
}

/** Returns the length of all payloads of the newest attempt of a run. */
export async function sumPayloadLengths(db: Database, runId: number): Promise<number> {
  const [row] = await selectRows<{ total: number | null }>(
    db,
    `select sum(length(j.payload)) as total from workflow_jobs j
      where j.run_id = ? and j.last_attempt is null`,
    [runId],
  )
  return Number(row?.total ?? 0)
}

/** Returns the workflow that the runner of a job gets. */
export async function findJobPayload(db: Database, id: number): Promise<string | undefined> {
  const row: { payload: string } | undefined = await db('workflow_jobs')
    .where({ id })
    .first('payload')
  return row?.payload
}

/** Owner and repository whose jobs a runner takes; a runner of the site has neither. */
export interface RunnerScope {
  readonly ownerId: number | undefined
  readonly repositoryId: number | undefined
}

/** A job that waits for a runner. */
export interface WaitingJob {
  readonly id: number
  readonly runId: number
  readonly repositoryId: number
  readonly ownerId: number
  readonly labels: readonly string[]
  /** True if the commit is of a fork and the repository is public: anyone can cause such a job. */
  readonly isUntrusted: boolean
}

export interface WaitingJobsPage {
  /** Id after which the page begins; 0 for the first page. */
  readonly afterId: number
  readonly limit: number
}

/** Returns the jobs that wait for a runner, oldest first. */
export async function listWaitingJobs(
  db: Database,
  { afterId, limit }: WaitingJobsPage,
): Promise<readonly WaitingJob[]> {
  const rows = await selectRows<WaitingRow>(
    db,
    `select j.id, j.run_id, j.labels, r.repository_id, r.is_from_fork, p.owner_id, p.is_private
      from workflow_jobs j join workflow_runs r on r.id = j.run_id
        join repositories p on p.id = r.repository_id
      where j.status = 'waiting' and j.is_deferred = 0 and j.id > ? order by j.id limit ?`,
    [afterId, limit],
  )
  return rows.map((row) => ({
    id: row.id,
    runId: row.run_id,
    repositoryId: row.repository_id,
    ownerId: row.owner_id,
    labels: JSON.parse(row.labels),
    isUntrusted: row.is_from_fork === 1 && row.is_private === 0,
  }))
}

interface WaitingRow {
  readonly id: number
  readonly run_id: number
  readonly labels: string
  readonly repository_id: number
  readonly is_from_fork: number
  readonly owner_id: number
  readonly is_private: number
}

/** Returns the different label lists of the jobs of a repository that wait for a runner. */
export async function listWaitingLabels(
  db: Database,
  repositoryId: number,
  limit: number,
): Promise<readonly (readonly string[])[]> {
  const rows = await selectRows<{ labels: string }>(
    db,
    `select distinct j.labels from workflow_runs r join workflow_jobs j on j.run_id = r.id
      where r.repository_id = ? and r.status in ('waiting', 'running', 'blocked')
        and j.status = 'waiting' and j.is_deferred = 0 limit ?`,
    [repositoryId, limit],
  )
  return rows.map(({ labels }) => JSON.parse(labels))
}

/** Change of a job's status. */
export interface JobChange {
  /** Statuses that the job may have before. */
  readonly from: readonly RunStatus[]
  readonly to: RunStatus
  readonly taskId?: number | undefined
  readonly reason?: string | undefined
  readonly startedAtMs?: number | undefined
  readonly stoppedAtMs?: number | undefined
}

/** Maximum number of characters of a reason: it may name an expression of any length. */
const REASON_CHARACTERS_MAX = 2_000

/** Changes the status of a job. Returns false if it has none of the statuses before. */
export async function changeJob(
  db: Database,
  id: number,
  { from, to, ...change }: JobChange,
): Promise<boolean> {
  const changed = await db('workflow_jobs')
    .where({ id })
    .whereIn('status', [...from])
    .update({
      status: to,
      waiting_at: to === 'waiting' ? Date.now() : undefined,
      task_id: change.taskId,
      reason: change.reason && cut(change.reason, REASON_CHARACTERS_MAX),
      started_at: change.startedAtMs,
      stopped_at: change.stoppedAtMs,
    })
  return changed > 0
}

/** Returns the ids of the jobs that have waited for a runner since before this time. */
export async function listAbandonedJobs(
  db: Database,
  beforeMs: number,
  limit: number,
): Promise<readonly number[]> {
  const rows = await selectRows<{ id: number }>(
    db,
    `select j.id from workflow_jobs j
      where j.status = 'waiting' and j.waiting_at < ? order by j.waiting_at limit ?`,
    [beforeMs, limit],
  )
  return rows.map(({ id }) => id)
}

const POSITION = 'coalesce(j.place, j.position)'

const COLUMNS = MEMBERSHIP.map((name) => `j.${name}`).join(', ')

const SELECT = `select j.id, j.run_id, j.attempt, j.last_attempt, ${POSITION} as position,
  j.job_key, j.parent_id, j.is_deferred, j.plan_id, j.name, j.environment, j.needs, j.labels, j.step_names,
  j.job_condition, j.fails_fast, j.max_parallel, j.continues_on_error, j.permissions, j.status,
  ${COLUMNS},
  j.task_id, j.reason, j.created_at, j.started_at, j.stopped_at from workflow_jobs j where`

/** Returns the jobs `j` of a condition, which may end with an order. */
export async function selectJobs(
  db: Database,
  condition: string,
  bindings: readonly (string | number)[],
): Promise<readonly RunJob[]> {
  return (await selectRows<JobRow>(db, `${SELECT} ${condition}`, bindings)).map(jobOf)
}

interface JobRow extends MembershipRow {
  readonly id: number
  readonly run_id: number
  readonly attempt: number
  readonly last_attempt: number | null
  readonly position: number
  readonly job_key: string
  readonly parent_id: number | null
  readonly is_deferred: number
  readonly plan_id: number | null
  readonly name: string
  readonly environment: string
  readonly needs: string
  readonly labels: string
  readonly step_names: string
  readonly job_condition: string | null
  readonly fails_fast: number
  readonly max_parallel: number | null
  readonly continues_on_error: number
  readonly permissions: string | null
  readonly status: RunStatus
  readonly task_id: number | null
  readonly reason: string
  readonly created_at: number
  readonly started_at: number | null
  readonly stopped_at: number | null
}

function jobOf(row: JobRow): RunJob {
  return {
    id: row.id,
    runId: row.run_id,
    attempt: row.attempt,
    lastAttempt: row.last_attempt ?? undefined,
    position: row.position,
    key: row.job_key,
    parentId: row.parent_id ?? undefined,
    isDeferred: row.is_deferred === 1,
    planId: row.plan_id ?? undefined,
    name: row.name,
    environment: row.environment,
    needs: JSON.parse(row.needs),
    labels: JSON.parse(row.labels),
    stepNames: JSON.parse(row.step_names),
    condition: row.job_condition ?? undefined,
    failsFast: row.fails_fast === 1,
    maxParallel: row.max_parallel ?? undefined,
    continuesOnError: row.continues_on_error === 1,
    permissions: row.permissions === null ? undefined : JSON.parse(row.permissions),
    membership: membershipOf(row),
    status: row.status,
    taskId: row.task_id ?? undefined,
    reason: row.reason,
    createdAtMs: row.created_at,
    startedAtMs: row.started_at ?? undefined,
    stoppedAtMs: row.stopped_at ?? undefined,
  }
}
