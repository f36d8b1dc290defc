/** Runs the steps of a job in their order. */

import { Result } from '../runner-protocol/messages.js'
import { interpolate } from '../workflows/expressions.js'
import { startContainers } from './job-containers.js'
import { faultSentence } from './job-fault.js'
import { type JobInput, JobState } from './job-state.js'
import { runPosts } from './run-posts.js'
import { runStep } from './run-step.js'
import { type StepResult, StepScope } from './step-scope.js'
import type { StepProgress, TaskResult } from './task-report.js'
import { minutesAsMs, parseMinutes } from './time-limit.js'

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
  const { job, log, summary, cancellation } = input
  const scope = startScope(input)
  const minutes = parseMinutes(
    job.timeoutMinutes && interpolate(job.timeoutMinutes, scope.contexts()),
  )
  let hasTimedOut = false
  const timer = setTimeout(
    () => {
      log.add(`Error: the job ran longer than ${minutes} minutes.`)
      scope.hasFailed = true
      hasTimedOut = true
      cancellation.cancel(CANCEL_GRACE_MS)
    },
    Math.min(minutesAsMs(minutes), TIMER_MS_MAX),
  )
  try {
    if (!(await hasContainers(scope))) return { result: Result.CANCELLED, outputs: {} }
    for (const [index, step] of job.steps.entries()) {
      const entry = progress[index]
      if (entry === undefined) throw new Error(`step ${index} has no progress`)
      entry.startedAtMs = Date.now()
      entry.logIndex = log.rowCount
      const conclusion = await runStep(step, scope)
      await summary.send(index)
      entry.result = RESULTS[conclusion]
      entry.stoppedAtMs = Date.now()
      entry.logLength = log.rowCount - entry.logIndex
    }
    await runPosts(scope)
    await summary.send(job.steps.length)
  } finally {
    clearTimeout(timer)
    await scope.job.containers?.close()
  }
  const { isCancelled } = cancellation
  const ended = scope.hasFailed ? Result.FAILURE : Result.SUCCESS
  const result = isCancelled && !hasTimedOut ? Result.CANCELLED : ended
  return { result, outputs: outputsOf(scope) }
}

/** Longest time that a timer of Node can have. */
const TIMER_MS_MAX = 2_147_483_647

/** Returns the scope of the job's steps, with the variables of workflow and job. */
function startScope(input: JobInput): StepScope {
  const { workflowEnv, env, defaults } = input.job
  const state = new JobState(input)
  const { contexts } = state
  const scope = new StepScope(state, { contexts, defaults, env: {}, variables: {}, depth: 0 })
  state.addVariables(scope.evaluateAll(workflowEnv))
  state.addVariables(scope.evaluateAll(env))
  return scope
}

/**
 * Starts the containers that the job asks for. Returns false if it was cancelled meanwhile. Throws
 * JobFault.
 */
async function hasContainers(scope: StepScope): Promise<boolean> {
  try {
    const containers = await startContainers(scope.job.input, scope.contexts())
    if (containers !== undefined) scope.job.useContainers(containers)
    return true
  } catch (error) {
    // The timeout of the job is a failure.
    if (scope.outcome.isCancelled && !scope.hasFailed) return false
    throw error
  }
}

/** Returns the outputs of the job. One that contains a secret, or has a fault, is left out. */
function outputsOf(scope: StepScope): Readonly<Record<string, string>> {
  const { log, job } = scope.job.input
  const outputs: Record<string, string> = {}
  for (const [name, text] of Object.entries(job.outputs)) {
    try {
      const value = interpolate(text, scope.contexts())
      if (log.hasSecret(value)) log.add(`The output '${name}' is left out: it has a secret.`)
      else outputs[name] = value
    } catch (error) {
      log.add(faultSentence(error))
    }
  }
  return outputs
}
