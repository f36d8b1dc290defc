/** Reports of a runner about its task: heartbeat, states of the steps, outputs, and the end. */

import type { Timestamp } from '@bufbuild/protobuf/wkt'
import { timestampMs } from '@bufbuild/protobuf/wkt'
import { Failure } from '../../conf/failures.js'
import type { Database } from '../../sql/database/database.js'
import { type Runner, removeRunner } from '../../sql/runners/runners.js'
import { findJob } from '../../sql/runs/run-jobs.js'
import { addOutputs, findTask, type Task, type TaskStep, updateTask } from '../../sql/runs/tasks.js'
import type { Context } from '../request/context.js'
import type { StepState } from '../runner-protocol/messages.js'
import { UPDATE_TASK } from '../runner-protocol/procedures.js'
import { endTask } from '../runs/end-task.js'
import { procedureRoute } from './procedure-route.js'
import { conclusionOf, resultOf } from './results.js'

/** Maximum size of a message, and with it of the outputs of a task. */
const MESSAGE_BYTES_MAX = 1_048_576
const STEPS_MAX = 1_000
const OUTPUTS_MAX = 500
const OUTPUT_NAME_CHARACTERS_MAX = 255

/** Interval at which a heartbeat without news is recorded. */
const HEARD_EVERY_MS = 30_000

export const UPDATE_TASK_ROUTE = procedureRoute(UPDATE_TASK, {
  access: 'runner',
  bytesMax: MESSAGE_BYTES_MAX,
  async handle(context, { message: { state, outputs }, grant: { runner } }) {
    if (state === undefined) throw new Failure('bad_request', 'The message has no state.')
    const task = await ownTask(context, runner, state.id)
    if (task.stoppedAtMs === undefined) {
      await record(context, task, { steps: state.steps, outputs })
      const result = conclusionOf(state.result)
      if (result !== undefined) {
        await endTask(context, task, { result, reason: '' })
        if (runner.isEphemeral) await removeRunner(context.db, runner.uuid)
      }
    }
    const job = await findJob(context.db, task.jobId)
    const isCurrent = job?.taskId === task.id
    const status = isCurrent ? job.status : 'cancelled'
    return {
      state: { id: state.id, result: resultOf(status) },
      // Also those that are refused for their size: a runner waits for all of them to be confirmed.
      sentOutputs: Object.keys(outputs),
    }
  },
})

/** Returns the task of a runner. Throws `forbidden` if the runner has no such task. */
export async function ownTask(context: Context, runner: Runner, id: bigint): Promise<Task> {
  const task = await findTask(context.db, Number(id))
  if (task?.runnerId !== runner.id) {
    throw new Failure('forbidden', `Task ${id} is not a task of this runner.`)
  }
  return task
}

/** Records that the runner of a task was heard, unless that was recorded a moment ago. */
export async function noteHeard(db: Database, task: Task): Promise<void> {
  const nowMs = Date.now()
  // A task that was not heard since its claim counts as not received.
  const isFirst = task.heardAtMs === task.claimedAtMs
  if (!isFirst && nowMs - task.heardAtMs <= HEARD_EVERY_MS) return
  await updateTask(db, task.id, { heardAtMs: nowMs })
}

interface Report {
  readonly steps: readonly StepState[]
  readonly outputs: Readonly<Record<string, string>>
}

async function record({ db }: Context, task: Task, report: Report): Promise<void> {
  const steps = report.steps.slice(0, STEPS_MAX).map(stepOf)
  const nowMs = Date.now()
  const isNews = JSON.stringify(steps) !== JSON.stringify(task.steps)
  if (isNews) await updateTask(db, task.id, { steps, heardAtMs: nowMs })
  else await noteHeard(db, task)
  const outputs = Object.entries(report.outputs)
    .filter(([name]) => name !== '' && name.length <= OUTPUT_NAME_CHARACTERS_MAX)
    .slice(0, OUTPUTS_MAX)
  if (outputs.length > 0) await addOutputs(db, task.id, new Map(outputs))
}

function stepOf({ result, startedAt, stoppedAt, logIndex, logLength }: StepState): TaskStep {
  return {
    result: conclusionOf(result),
    startedAtMs: msOf(startedAt),
    stoppedAtMs: msOf(stoppedAt),
    firstRow: Math.max(0, Number(logIndex)),
    rowCount: Math.max(0, Number(logLength)),
  }
}

function msOf(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : timestampMs(time)
}
