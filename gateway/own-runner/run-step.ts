/** Runs one step of a job. */

import { stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Contexts } from '../workflows/expression-values.js'
import { evaluateCondition, interpolate } from '../workflows/expressions.js'
import { checkOut, isCheckout } from './checkout.js'
import { createCommandFiles, readCommandFiles } from './command-files.js'
import { faultSentence, JobFault } from './job-fault.js'
import type { StepFile } from './job-file.js'
import type { JobState, StepResult } from './job-state.js'
import { runProgram } from './run-program.js'
import { shellCommand } from './shell.js'

type Texts = Readonly<Record<string, string>>

/**
 * Runs a step if its condition is met, and notes its result and outputs. Returns its conclusion,
 * which is `success` if its failure is tolerated.
 */
export async function runStep(step: StepFile, index: number, state: JobState): Promise<StepResult> {
  const { log, cancellation } = state.input
  let outcome: StepResult = 'failure'
  let isTolerated = false
  let outputs: Texts = {}
  try {
    if (evaluateCondition(step.condition, state.contexts(), state.outcome)) {
      const signal = cancellation.signalOfStep()
      const env = state.environmentWith(step.env)
      const contexts = state.contexts(env)
      isTolerated = textOf(step.continueOnError, contexts) === 'true'
      const folder = join(state.input.folder.path, `step-${index}`)
      const files = await createCommandFiles(folder)
      log.add(`Run ${titleOf(step, contexts)}`)
      const run = { state, contexts, env: { ...env, ...files }, folder, signal }
      const hasSucceeded = await (step.uses === undefined ? runScript : runAction)(step, run)
      outcome = hasSucceeded ? 'success' : signal.aborted ? 'cancelled' : 'failure'
      const values = await readCommandFiles(folder)
      outputs = Object.fromEntries(values.outputs)
      state.apply(values)
    } else {
      outcome = 'skipped'
    }
  } catch (error) {
    outcome = 'failure'
    log.add(faultSentence(error))
  }
  const conclusion = outcome === 'failure' && isTolerated ? 'success' : outcome
  if (step.id !== undefined) state.noteStep(step.id, { outcome, conclusion, outputs })
  if (conclusion === 'failure') state.hasFailed = true
  return conclusion
}

interface StepRun {
  readonly state: JobState
  readonly contexts: Contexts
  /** Variables of the step, without those of every process. */
  readonly env: Texts
  readonly folder: string
  readonly signal: AbortSignal
}

function textOf(text: string | undefined, contexts: Contexts): string | undefined {
  return text === undefined ? undefined : interpolate(text, contexts)
}

function titleOf(step: StepFile, contexts: Contexts): string {
  const { name, uses, run = '' } = step
  const [firstLine = ''] = run.trimStart().split('\n')
  return interpolate(name ?? uses ?? firstLine, contexts)
}

/** Runs the script of a step. Returns false if it has failed. */
async function runScript(step: StepFile, run: StepRun): Promise<boolean> {
  const { state, contexts, env, folder, signal } = run
  const { log, job } = state.input
  const shell = textOf(step.shell ?? job.defaults.shell, contexts)
  const script = join(folder, 'script')
  await writeFile(script, interpolate(step.run ?? '', contexts))
  const timeoutMs = timeoutOf(step, contexts)
  const {
    exitCode,
    signal: killedBy,
    timedOut,
    errorText,
  } = await runProgram(await shellCommand(shell, script, state.searchPath), {
    cwd: await workingFolderOf(step, run),
    environment: state.processEnvironment(env),
    isolate: state.input.isolate,
    timeoutMs,
    signal,
    log,
  })
  if (exitCode === 0 && !timedOut) return true
  if (signal.aborted) log.add('Error: the step was cancelled.')
  else if (timedOut) log.add(`Error: the step ran longer than ${timeoutMs / MINUTE_MS} minutes.`)
  else if (exitCode !== undefined) log.add(`Error: the step exited with status ${exitCode}.`)
  else if (killedBy !== undefined) log.add(`Error: the step was ended by ${killedBy}.`)
  else log.add(`Error: the step did not start: ${errorText}.`)
  return false
}

/** Runs a built-in action. Throws JobFault for others. */
function runAction(step: StepFile, run: StepRun): Promise<boolean> {
  const { state, contexts, env, signal } = run
  const { task, instance, folder, log, isolate } = state.input
  const uses = interpolate(step.uses ?? '', contexts)
  if (!isCheckout(uses)) {
    throw new JobFault(`the action '${uses}' is not supported by this runner yet`)
  }
  const github = task.context ?? {}
  const inputs = Object.entries(step.inputs).map(([name, text]) => [
    name,
    interpolate(text, contexts),
  ])
  return checkOut({
    inputs: Object.fromEntries(inputs),
    instance,
    repository: String(github['repository'] ?? ''),
    sha: String(github['sha'] ?? ''),
    token: String(github['token'] ?? ''),
    workspace: folder.workspace,
    environment: state.processEnvironment(env),
    isolate,
    log,
    signal,
    timeoutMs: timeoutOf(step, contexts),
  })
}

async function workingFolderOf(step: StepFile, { state, contexts }: StepRun): Promise<string> {
  const { folder, job } = state.input
  const named = textOf(step.workingDirectory ?? job.defaults.workingDirectory, contexts) ?? ''
  const path = resolve(folder.workspace, named)
  const stats = await stat(path).catch(() => undefined)
  if (!stats?.isDirectory()) throw new JobFault(`the working-directory '${named}' does not exist`)
  return path
}

const MINUTE_MS = 60_000
const TIMEOUT_MINUTES_BY_DEFAULT = '360'

function timeoutOf(step: StepFile, contexts: Contexts): number {
  return minutesAsMs(textOf(step.timeoutMinutes, contexts))
}

/** Parses `timeout-minutes`; by default 360. Throws JobFault. */
export function minutesAsMs(text = TIMEOUT_MINUTES_BY_DEFAULT): number {
  if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(text) || Number(text) === 0) {
    throw new JobFault(`the timeout-minutes '${text}' is not a positive number`)
  }
  return Number(text) * MINUTE_MS
}
