/** The poll of a runner, which is held until a job fits, and the task that it gets. */

import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf'
import { openInstanceSecret } from '../../conf/instance-secret.js'
import { ownKeyOf } from '../../conf/job-keys.js'
import { findRepositoryById } from '../../sql/repositories/repositories.js'
import { updateRunner } from '../../sql/runners/runners.js'
import { findJobPayload, listJobs, type RunJob } from '../../sql/runs/run-jobs.js'
import { findRunById } from '../../sql/runs/runs.js'
import { findTask, hasRunningTask } from '../../sql/runs/tasks.js'
import { wasRecordedRecently } from '../auth/authenticate.js'
import { runtimeTokenOf } from '../auth/runtime-token.js'
import type { Context } from '../request/context.js'
import type { TaskNeedSchema, TaskSchema } from '../runner-protocol/messages.js'
import { FETCH_TASK } from '../runner-protocol/procedures.js'
import { type Claim, releaseClaim } from '../runs/claim-job.js'
import { readNeed } from '../runs/read-need.js'
import { secretsOfJob } from '../runs/run-secrets.js'
import { jobContext, variablesOf } from '../runs/task-context.js'
import { procedureRoute } from './procedure-route.js'
import { resultOf } from './results.js'
import { waitForJob } from './waiting-board.js'

const MESSAGE_BYTES_MAX = 65_536

/** Maximum time for which a poll is held, and the time that is left for its answer. */
const HOLD_MS = 4_000
const ANSWER_MS = 700

/** Version of the waiting jobs: a constant, because the server looks for jobs in any case. */
const TASKS_VERSION = 1n

export const FETCH_TASK_ROUTE = procedureRoute(FETCH_TASK, {
  access: 'runner',
  bytesMax: MESSAGE_BYTES_MAX,
  async handle(context, { grant: { runner }, request: { headers, signal } }) {
    const nowMs = Date.now()
    if (!wasRecordedRecently(runner.lastSeenAtMs, nowMs)) {
      await updateRunner(context.db, runner.id, { lastSeenAtMs: nowMs })
    }
    const nothing = { tasksVersion: TASKS_VERSION }
    if (runner.isDisabled) return nothing
    if (runner.isEphemeral && (await hasRunningTask(context.db, runner.id))) return nothing
    const patienceMs = Number(/^\d{1,10}$/.exec(headers.get('connect-timeout-ms') ?? '')?.[0] ?? 0)
    const holdMs = Math.max(0, Math.min(HOLD_MS, patienceMs - ANSWER_MS))
    const claim = await waitForJob(context, { runner, signal, holdMs })
    if (claim === undefined) return nothing
    try {
      const task = await taskOf(context, claim)
      if (task !== undefined && !signal.aborted) return { ...nothing, task }
    } catch (error) {
      await releaseClaim(context, claim)
      throw error
    }
    // The runner has disconnected and will not get the answer.
    await releaseClaim(context, claim)
    return nothing
  },
})

/** Returns the message of a claimed task; undefined if its repository was deleted meanwhile. */
async function taskOf(
  context: Context,
  { taskId, job, token }: Claim,
): Promise<MessageInitShape<typeof TaskSchema> | undefined> {
  const { db } = context
  const run = await findRunById(db, job.runId)
  const repository = run && (await findRepositoryById(db, run.repositoryId))
  const payload = await findJobPayload(db, job.id)
  const claimedAtMs = (await findTask(db, taskId))?.claimedAtMs
  if (run === undefined || repository === undefined) return undefined
  if (payload === undefined || claimedAtMs === undefined) return undefined
  const { data, http } = context.settings
  const subject = { taskId, jobId: job.id, runId: run.id, claimedAtMs }
  const runtimeToken = runtimeTokenOf(await openInstanceSecret(data.dir), subject)
  const github: JsonObject = {
    ...((await jobContext(context, { run, repository }, job)) as JsonObject),
    token,
    gitea_runtime_token: runtimeToken,
    forgejo_runtime_token: runtimeToken,
    gitea_default_actions_url: http.baseUrl,
    forgejo_default_actions_url: http.baseUrl,
  }
  return {
    id: BigInt(taskId),
    workflowPayload: Buffer.from(payload),
    context: github,
    secrets: {
      ...Object.fromEntries(await secretsOfJob(context, { run, repository }, job)),
      GITEA_TOKEN: token,
      GITHUB_TOKEN: token,
      FORGEJO_TOKEN: token,
    },
    vars: { ...(await variablesOf(db, repository)) },
    needs: await needsOf(context, job),
  }
}

async function needsOf(
  { db }: Context,
  job: RunJob,
): Promise<Record<string, MessageInitShape<typeof TaskNeedSchema>>> {
  if (job.needs.length === 0) return {}
  const needs: Record<string, MessageInitShape<typeof TaskNeedSchema>> = {}
  const jobs = await listJobs(db, job.runId)
  for (const key of job.needs) {
    const { status, outputs } = await readNeed(db, jobs, key)
    needs[ownKeyOf(key)] = { outputs, result: resultOf(status) }
  }
  return needs
}
