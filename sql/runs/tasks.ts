/** Tasks: the claims of jobs by runners. Each has a job token, and the states of its steps. */

import type { JobPermissions } from '../../conf/job-permissions.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { Preferences } from '../repositories/repositories.js'
import type { RunConclusion } from './statuses.js'

export interface Task {
  readonly id: number
  readonly jobId: number
  readonly repositoryId: number
  /** Undefined if the runner was deleted. */
  readonly runnerId: number | undefined
  readonly steps: readonly TaskStep[]
  readonly claimedAtMs: number
  /** Time at which the runner was last heard, with a precision of some seconds. */
  readonly heardAtMs: number
  /** Undefined while the runner works on the task. */
  readonly stoppedAtMs: number | undefined
}

/** State of a step, as the runner reports it. */
export interface TaskStep {
  /** Undefined while the step has not ended. */
  readonly result: RunConclusion | undefined
  readonly startedAtMs: number | undefined
  readonly stoppedAtMs: number | undefined
  /** Rows of the step within the log of the task. */
  readonly firstRow: number
  readonly rowCount: number
}

export interface NewTask {
  readonly jobId: number
  readonly repositoryId: number
  readonly runnerId: number | undefined
  /** SHA-256 of the job token, in lower-case hexadecimal. */
  readonly tokenHash: string
}

/** Inserts a task with an empty log, and returns its id. */
export async function createTask(db: Database, task: NewTask): Promise<number> {
  const nowMs = Date.now()
  return await transaction(db, async (trx) => {
    const [id] = await trx('workflow_tasks').insert({
      job_id: task.jobId,
      repository_id: task.repositoryId,
      runner_id: task.runnerId ?? null,
      token_hash: task.tokenHash,
      steps: '[]',
      claimed_at: nowMs,
      heard_at: nowMs,
      stopped_at: null,
    })
    if (id === undefined) throw new Error('The insert returned no id.')
    await trx('workflow_logs').insert({
      task_id: id,
      log_rows: 0,
      log_bytes: 0,
      is_log_closed: false,
    })
    return id
  })
}

/** Deletes a task that its runner has not received. */
export async function removeTask(db: Database, id: number): Promise<void> {
  await db('workflow_tasks').where({ id }).delete()
}

/** Returns a task by its id. */
export async function findTask(db: Database, id: number): Promise<Task | undefined> {
  const [task] = await selectTasks(db, 't.id = ?', [id])
  return task
}

/** Returns the tasks with these ids, by their ids. */
export async function findTasksById(
  db: Database,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Task>> {
  if (ids.length === 0) return new Map()
  const tasks = await selectTasks(db, `t.id in (${ids.map(() => '?').join()})`, ids)
  return new Map(tasks.map((task) => [task.id, task]))
}

/** A running task, as authentication by its job token needs it. */
export interface TaskCaller {
  readonly taskId: number
  readonly repositoryId: number
  /** Permissions in the workflow file; undefined if it names none. */
  readonly declared: JobPermissions | undefined
  readonly isFromFork: boolean
  readonly preferences: Preferences
}

/** Returns the task with this job token, unless it has ended: the token then opens nothing. */
export async function findTaskCaller(
  db: Database,
  tokenHash: string,
): Promise<TaskCaller | undefined> {
  const [row] = await selectRows<TaskCallerRow>(
    db,
    `select t.id, t.repository_id, j.permissions, r.is_from_fork, p.preferences
      from workflow_tasks t join workflow_jobs j on j.id = t.job_id
        join workflow_runs r on r.id = j.run_id join repositories p on p.id = t.repository_id
      where t.token_hash = ? and t.stopped_at is null`,
    [checkText(tokenHash)],
  )
  return (
    row && {
      taskId: row.id,
      repositoryId: row.repository_id,
      declared: row.permissions === null ? undefined : JSON.parse(row.permissions),
      isFromFork: row.is_from_fork === 1,
      preferences: JSON.parse(row.preferences),
    }
  )
}

interface TaskCallerRow {
  readonly id: number
  readonly repository_id: number
  readonly permissions: string | null
  readonly is_from_fork: number
  readonly preferences: string
}

/** A task on which a runner works, as its runtime token opens it. */
export interface RunningTask {
  readonly taskId: number
  readonly jobId: number
  readonly runId: number
  /** Attempt of the run. */
  readonly attempt: number
  readonly repositoryId: number
}

/** Returns the task with this id, unless it has ended. */
export async function findRunningTask(
  db: Database,
  taskId: number,
): Promise<RunningTask | undefined> {
  const [row] = await selectRows<RunningTaskRow>(
    db,
    `select t.job_id, j.run_id, j.attempt, t.repository_id
      from workflow_tasks t join workflow_jobs j on j.id = t.job_id
      where t.id = ? and t.stopped_at is null`,
    [taskId],
  )
  if (row === undefined) return undefined
  const { job_id: jobId, run_id: runId, repository_id: repositoryId, attempt } = row
  return { taskId, jobId, runId, repositoryId, attempt }
}

interface RunningTaskRow {
  readonly job_id: number
  readonly run_id: number
  readonly attempt: number
  readonly repository_id: number
}

/** Returns true if a runner works on a task. */
export async function hasRunningTask(db: Database, runnerId: number): Promise<boolean> {
  const rows = await selectRows<{ id: number }>(
    db,
    'select t.id from workflow_tasks t where t.runner_id = ? and t.stopped_at is null limit 1',
    [runnerId],
  )
  return rows.length > 0
}

/** Returns those of the runners that work on a task. */
export async function busyRunners(
  db: Database,
  runnerIds: readonly number[],
): Promise<ReadonlySet<number>> {
  if (runnerIds.length === 0) return new Set()
  const rows = await selectRows<{ runner_id: number }>(
    db,
    `select distinct t.runner_id from workflow_tasks t
      where t.runner_id in (${runnerIds.map(() => '?').join()}) and t.stopped_at is null`,
    runnerIds,
  )
  return new Set(rows.map((row) => row.runner_id))
}

/** Returns the ids of the unfinished tasks whose runner was not heard since this time. */
export async function listSilentTasks(
  db: Database,
  beforeMs: number,
  limit: number,
): Promise<readonly number[]> {
  const rows = await selectRows<{ id: number }>(
    db,
    `select t.id from workflow_tasks t
      where t.stopped_at is null and t.heard_at < ? order by t.id limit ?`,
    [beforeMs, limit],
  )
  return rows.map(({ id }) => id)
}

/** Returns the ids of the tasks that were claimed before this time and never heard of since. */
export async function listUnstartedTasks(
  db: Database,
  beforeMs: number,
  limit: number,
): Promise<readonly number[]> {
  const rows = await selectRows<{ id: number }>(
    db,
    `select t.id from workflow_tasks t
      where t.stopped_at is null and t.heard_at < ? and t.heard_at = t.claimed_at
      order by t.id limit ?`,
    [beforeMs, limit],
  )
  return rows.map(({ id }) => id)
}

/** Returns the number of tasks of a job so far. */
export async function countTasks(db: Database, jobId: number): Promise<number> {
  const [row] = await selectRows<{ total: number }>(
    db,
    'select count(*) as total from workflow_tasks t where t.job_id = ?',
    [jobId],
  )
  return Number(row?.total ?? 0)
}

/** Changes of a task; absent fields keep their value. */
export interface TaskPatch {
  readonly steps?: readonly TaskStep[] | undefined
  readonly heardAtMs?: number | undefined
  readonly stoppedAtMs?: number | undefined
}

/** Changes a task. */
export async function updateTask(
  db: Database,
  id: number,
  { steps, heardAtMs, stoppedAtMs }: TaskPatch,
): Promise<void> {
  await db('workflow_tasks')
    .where({ id })
    .update({
      steps: steps && JSON.stringify(steps),
      heard_at: heardAtMs,
      stopped_at: stoppedAtMs,
    })
}

/** Stores outputs of a task; an output that is there already keeps its value. */
export async function addOutputs(
  db: Database,
  taskId: number,
  outputs: ReadonlyMap<string, string>,
): Promise<void> {
  const known = await listOutputs(db, taskId)
  for (const [name, value] of outputs) {
    if (known.has(name)) continue
    await db('workflow_outputs').insert({ task_id: taskId, name, value })
  }
}

/** Returns the outputs of a task by their names. */
export async function listOutputs(
  db: Database,
  taskId: number,
): Promise<ReadonlyMap<string, string>> {
  const rows: readonly { name: string; value: string }[] = await db('workflow_outputs')
    .where({ task_id: taskId })
    .orderBy('name')
    .select('name', 'value')
  return new Map(rows.map(({ name, value }) => [name, value]))
}

/** Maximum number of characters of the outputs of several tasks, with their names. */
const MERGED_CHARACTERS_MAX = 1_048_576

/**
 * Returns the outputs of tasks by their names. A value that is not empty replaces those of earlier
 * tasks. Outputs beyond 1,048,576 characters are left out.
 */
export async function mergeOutputs(
  db: Database,
  taskIds: readonly number[],
): Promise<ReadonlyMap<string, string>> {
  const merged = new Map<string, string>()
  let characters = 0
  for (const taskId of taskIds) {
    for (const [name, value] of await listOutputs(db, taskId)) {
      const earlier = merged.get(name)
      if (value === '' && earlier !== undefined) continue
      const added = value.length - (earlier?.length ?? -name.length)
      if (characters + added > MERGED_CHARACTERS_MAX) continue
      characters += added
      merged.set(name, value)
    }
  }
  return merged
}

const SELECT = `select t.id, t.job_id, t.repository_id, t.runner_id, t.steps,
  t.claimed_at, t.heard_at, t.stopped_at from workflow_tasks t where`

async function selectTasks(
  db: Database,
  condition: string,
  bindings: readonly (string | number)[],
): Promise<readonly Task[]> {
  return (await selectRows<TaskRow>(db, `${SELECT} ${condition}`, bindings)).map(taskOf)
}

interface TaskRow {
  readonly id: number
  readonly job_id: number
  readonly repository_id: number
  readonly runner_id: number | null
  readonly steps: string
  readonly claimed_at: number
  readonly heard_at: number
  readonly stopped_at: number | null
}

function taskOf(row: TaskRow): Task {
  return {
    id: row.id,
    jobId: row.job_id,
    repositoryId: row.repository_id,
    runnerId: row.runner_id ?? undefined,
    steps: JSON.parse(row.steps),
    claimedAtMs: row.claimed_at,
    heardAtMs: row.heard_at,
    stoppedAtMs: row.stopped_at ?? undefined,
  }
}
