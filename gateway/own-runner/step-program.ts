/** Runs a program for a step, with the files in which it writes values for later steps. */

import type { Contexts } from '../workflows/expression-values.js'
import { createCommandFiles, readCommandFiles } from './command-files.js'
import { runProgram } from './run-program.js'
import type { Texts } from './step-file.js'
import type { StepScope } from './step-scope.js'
import { leftMs, type TimeLimit } from './time-limit.js'

/** A step that has started. */
export interface StepRun {
  readonly scope: StepScope
  /** Title in the log. */
  readonly title: string
  readonly contexts: Contexts
  /** Variables of the step, over those of the job. */
  readonly env: Texts
  /** Variables that neither the job nor its steps can replace. */
  readonly variables: Texts
  readonly signal: AbortSignal
  readonly limit: TimeLimit
}

/** Program of a step. */
export interface StepProgram {
  readonly cwd: string
  /** Returns the command, from the folder for its files. */
  command(folder: string): Promise<readonly string[]>
}

/** Result of a step. */
export interface StepEnd {
  readonly hasSucceeded: boolean
  readonly outputs: Texts
}

/** Result of a program. */
interface ProgramResult extends StepEnd {
  /** Values for the later scripts of the same action. */
  readonly state: Texts
}

/** Runs a program, and applies the variables that it has set. Throws JobFault. */
export async function runStepProgram(
  { scope, env, variables, signal, limit }: StepRun,
  { cwd, command }: StepProgram,
): Promise<ProgramResult> {
  const { job } = scope
  const { log, summary } = job.input
  const folder = job.nextFolder('step')
  const files = await createCommandFiles(folder)
  const end = await runProgram(await command(folder), {
    cwd,
    environment: { ...job.processEnvironment({ ...env, ...files }), ...variables },
    isolate: job.isolate,
    timeoutMs: leftMs(limit),
    signal,
    log,
  })
  const hasSucceeded = end.exitCode === 0 && !end.timedOut
  if (!hasSucceeded) {
    if (signal.aborted) log.add('Error: the step was cancelled.')
    else if (end.timedOut) log.add(`Error: the step ran longer than ${limit.minutes} minutes.`)
    else if (end.exitCode !== undefined) {
      log.add(`Error: the step exited with status ${end.exitCode}.`)
    } else if (end.signal !== undefined) log.add(`Error: the step was ended by ${end.signal}.`)
    else log.add(`Error: the step did not start: ${end.errorText}.`)
  }
  const values = await readCommandFiles(folder)
  job.apply(values)
  await summary.read(files['GITHUB_STEP_SUMMARY'] ?? '')
  const { outputs, state } = values
  return {
    hasSucceeded,
    outputs: Object.fromEntries(outputs),
    state: Object.fromEntries(state),
  }
}
