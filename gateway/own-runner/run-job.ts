/** Runs the steps of a job in their order. */

import { Result } from '../runner-protocol/messages.js'
import { interpolate } from '../workflows/expressions.js'
import { faultSentence } from './job-fault.js'
import { type JobInput, JobState, type StepResult } from './job-state.js'
import { minutesAsMs, runStep } from './run-step.js'
import type { StepProgress, TaskResult } from './task-report.js'

/** Time that steps with `always()` have after a cancellation by the server, or a timeout. */
export const CANCEL_GRACE_MS = 60_000

const RESULTS: Readonly<Record<StepResult, Result>> = {
  success: Result.SUCCESS,
  failure: Result.FAILURE,
  cancelled: Result.CANCELLED,
  skipped: Result.SKIPPED,
}

/** Runs a job, and notes the progress of its steps. Throws JobFault or ExpressionFault. */
export async function runJob(input: JobInput, progress: StepProgress[]): Promise<TaskResult> {
  const { job, log, cancellation } = input
  const state = new JobState(input)
  const minutes = job.timeoutMinutes
  const timeoutMs = minutesAsMs(
    minutes === undefined ? minutes : interpolate(minutes, state.contexts()),
  )
  const timer = setTimeout(
    () => {
      log.add(`Error: the job ran longer than ${timeoutMs / 60_000} minutes.`)
      state.hasFailed = true
      state.hasTimedOut = true
      cancellation.cancel(CANCEL_GRACE_MS)
    },
    Math.min(timeoutMs, TIMER_MS_MAX),
  )
  try {
    for (const [index, step] of job.steps.entries()) {
      const entry = progress[index]
      if (entry === undefined) throw new Error(`step ${index} has no progress`)
      entry.startedAtMs = Date.now()
      entry.logIndex = log.rowCount
      const conclusion = await runStep(step, index, state)
      entry.result = RESULTS[conclusion]
      entry.stoppedAtMs = Date.now()
      entry.logLength = log.rowCount - entry.logIndex
    }
  } finally {
    clearTimeout(timer)
  }
  return { result: resultOf(state), outputs: outputsOf(state) }
}

/** Longest time that a timer of Node can have. */
const TIMER_MS_MAX = 2_147_483_647

function resultOf({ outcome, hasTimedOut }: JobState): Result {
  if (outcome.isCancelled && !hasTimedOut) return Result.CANCELLED
  return outcome.hasFailed ? Result.FAILURE : Result.SUCCESS
}

/** Returns the outputs of the job. One that contains a secret, or has a fault, is left out. */
function outputsOf(state: JobState): Readonly<Record<string, string>> {
  const { log, job } = state.input
  const outputs: Record<string, string> = {}
  for (const [name, text] of Object.entries(job.outputs)) {
    try {
      const value = interpolate(text, state.contexts())
      if (log.hasSecret(value)) log.add(`The output '${name}' is left out: it has a secret.`)
      else outputs[name] = value
    } catch (error) {
      log.add(faultSentence(error))
    }
  }
  return outputs
}
