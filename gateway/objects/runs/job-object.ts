/** The ActionWorkflowJob of this API, and the steps in it. */

import { type Static, Type } from 'typebox'
import { findRepositoriesById, type Repository } from '../../../sql/repositories/repositories.js'
import { findRunnerNames } from '../../../sql/runners/runners.js'
import type { RunJob } from '../../../sql/runs/run-jobs.js'
import { findRunsById } from '../../../sql/runs/run-lists.js'
import type { Run } from '../../../sql/runs/runs.js'
import { findTasksById, type Task } from '../../../sql/runs/tasks.js'
import type { Context } from '../../request/context.js'
import { API_PREFIX } from '../api-prefix.js'
import { omissible, TIME } from '../schema.js'
import { apiTime } from '../times.js'
import { periodFields, runUrls, shortReference, statusFields } from './run-words.js'

const STEP = Type.Object(
  {
    name: Type.String(),
    number: Type.Integer(),
    status: Type.String(),
    conclusion: omissible(Type.String()),
    started_at: TIME,
    completed_at: TIME,
  },
  { $id: 'ActionWorkflowStep' },
)

export const JOB = Type.Object(
  {
    id: Type.Integer(),
    url: Type.String(),
    html_url: Type.String(),
    run_id: Type.Integer(),
    run_url: Type.String(),
    name: Type.String(),
    labels: Type.Array(Type.String()),
    run_attempt: Type.Integer(),
    head_sha: Type.String(),
    head_branch: Type.String(),
    status: Type.String({ description: 'waiting, queued, in_progress or completed' }),
    conclusion: omissible(Type.String({ description: 'success, failure, cancelled or skipped' })),
    runner_id: omissible(Type.Integer()),
    runner_name: omissible(Type.String()),
    steps: Type.Array(STEP),
    created_at: TIME,
    started_at: TIME,
    completed_at: TIME,
  },
  { $id: 'ActionWorkflowJob' },
)

export const JOBS = Type.Object(
  { total_count: Type.Integer(), jobs: Type.Array(JOB) },
  { $id: 'ActionWorkflowJobsResponse' },
)

type JobObject = Static<typeof JOB>

/** A run, and its repository. */
export interface JobPlace {
  readonly run: Run
  readonly repository: Repository
}

/** Returns jobs of one run. */
export function jobObjects(
  context: Context,
  place: JobPlace,
  jobs: readonly RunJob[],
): Promise<readonly JobObject[]> {
  return objectsOf(context, jobs, () => place)
}

/** Returns jobs of several repositories. */
export async function listedJobObjects(
  context: Context,
  jobs: readonly RunJob[],
): Promise<readonly JobObject[]> {
  const { db } = context
  const runs = await findRunsById(db, [...new Set(jobs.map(({ runId }) => runId))])
  const ids = new Set([...runs.values()].map(({ repositoryId }) => repositoryId))
  const repositories = await findRepositoriesById(db, [...ids])
  const byId = new Map(repositories.map((repository) => [repository.id, repository]))
  const places = new Map<number, JobPlace>()
  for (const run of runs.values()) {
    const repository = byId.get(run.repositoryId)
    if (repository !== undefined) places.set(run.id, { run, repository })
  }
  // A run can be deleted after its jobs were read.
  const present = jobs.filter(({ runId }) => places.has(runId))
  return await objectsOf(context, present, ({ runId }) => {
    const place = places.get(runId)
    if (place === undefined) throw new Error('the job has no run')
    return place
  })
}

async function objectsOf(
  context: Context,
  jobs: readonly RunJob[],
  placeOf: (job: RunJob) => JobPlace,
): Promise<readonly JobObject[]> {
  const { db, settings } = context
  const taskIds = jobs.flatMap(({ taskId }) => taskId ?? [])
  const tasks = await findTasksById(db, taskIds)
  const runnerIds = [...tasks.values()].flatMap(({ runnerId }) => runnerId ?? [])
  const runnerNames = await findRunnerNames(db, runnerIds)
  return jobs.map((job) => {
    const { run, repository } = placeOf(job)
    const runAddress = runUrls(context, repository, run)
    const base = `${settings.http.baseUrl}${API_PREFIX}/repos/${repository.owner.name}`
    const task = tasks.get(job.taskId ?? 0)
    return {
      id: job.id,
      url: `${base}/${repository.name}/actions/jobs/${job.id}`,
      html_url: `${runAddress.html_url}/jobs/${job.position}${attemptQuery(job)}`,
      run_id: run.id,
      run_url: runAddress.url,
      name: job.name,
      labels: [...job.labels],
      run_attempt: job.attempt,
      head_sha: run.commitId,
      head_branch: shortReference(run.reference),
      ...statusFields(job.status),
      ...runnerFields(task, runnerNames),
      steps: stepsOf(job, task),
      created_at: apiTime(job.createdAtMs),
      ...periodFields(job),
    }
  })
}

/** Returns the query of the page of a job that a newer attempt has replaced; empty for others. */
function attemptQuery({ lastAttempt }: RunJob): string {
  return lastAttempt === undefined ? '' : `?attempt=${lastAttempt}`
}

/** Returns the fields of the runner, unless it was deleted. */
function runnerFields(task: Task | undefined, names: ReadonlyMap<number, string>) {
  const id = task?.runnerId
  const name = names.get(id ?? 0)
  return id === undefined || name === undefined ? {} : { runner_id: id, runner_name: name }
}

/** State of a step that the runner has not reported. */
const NOT_STARTED = { result: undefined, startedAtMs: undefined, stoppedAtMs: undefined }

/** Returns the steps of a job, as its runner has reported them. */
function stepsOf({ stepNames }: RunJob, task: Task | undefined): Static<typeof STEP>[] {
  return stepNames.map((name, at) => {
    const state = task?.steps[at] ?? NOT_STARTED
    const unfinished = state.startedAtMs === undefined ? 'waiting' : 'running'
    return {
      name,
      number: at + 1,
      ...statusFields(state.result ?? unfinished),
      ...periodFields(state),
    }
  })
}
