/** Runs one step of a job or of a composite action. */

import { stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Contexts } from '../workflows/expression-values.js'
import { evaluateCondition, interpolate } from '../workflows/expressions.js'
import { checkOut, isCheckout } from './checkout.js'
import { faultSentence, JobFault } from './job-fault.js'
import { shellCommand } from './shell.js'
import type { StepFile, Texts } from './step-file.js'
import { runStepProgram, type StepRun } from './step-program.js'
import type { StepResult, StepScope } from './step-scope.js'
import { leftMs, startLimit } from './time-limit.js'

/** Result of the work of a step. */
interface StepEnd {
  readonly hasSucceeded: boolean
  readonly outputs: Texts
}

/**
 * Runs a step if its condition is met, and notes its result and outputs. Returns its conclusion,
 * which is `success` if its failure is tolerated.
 */
export async function runStep(step: StepFile, scope: StepScope): Promise<StepResult> {
  const { log, cancellation } = scope.job.input
  let outcome: StepResult = 'failure'
  let isTolerated = false
  let outputs: Texts = {}
  try {
    if (evaluateCondition(step.condition, scope.contexts(), scope.outcome)) {
      const signal = cancellation.signalOfStep()
      const env = { ...scope.options.env, ...scope.evaluateAll(step.env) }
      const contexts = scope.contexts(env)
      isTolerated = textOf(step.continueOnError, contexts) === 'true'
      log.add(`Run ${titleOf(step, contexts)}`)
      const limit = startLimit(textOf(step.timeoutMinutes, contexts), scope.options.limit)
      const run = { scope, contexts, env, signal, limit }
      const end = await (step.uses === undefined ? runScript : runAction)(step, run)
      outputs = end.outputs
      outcome = end.hasSucceeded ? 'success' : signal.aborted ? 'cancelled' : 'failure'
    } else {
      outcome = 'skipped'
    }
  } catch (error) {
    outcome = 'failure'
    log.add(faultSentence(error))
  }
  const conclusion = outcome === 'failure' && isTolerated ? 'success' : outcome
  if (step.id !== undefined) scope.noteStep(step.id, { outcome, conclusion, outputs })
  if (conclusion === 'failure') scope.hasFailed = true
  return conclusion
}

function textOf(text: string | undefined, contexts: Contexts): string | undefined {
  return text === undefined ? undefined : interpolate(text, contexts)
}

function titleOf(step: StepFile, contexts: Contexts): string {
  const { name, uses, run = '' } = step
  const [firstLine = ''] = run.trimStart().split('\n')
  return interpolate(name ?? uses ?? firstLine, contexts)
}

/** Runs the script of a step. Throws JobFault. */
async function runScript(step: StepFile, run: StepRun): Promise<StepEnd> {
  const { scope, contexts } = run
  const { defaults } = scope.options
  const shell = textOf(step.shell ?? defaults.shell, contexts)
  const text = interpolate(step.run ?? '', contexts)
  const { hasSucceeded, values } = await runStepProgram(run, {
    cwd: await workingFolderOf(step, run),
    async command(folder) {
      const script = join(folder, 'script')
      await writeFile(script, text)
      return shellCommand(shell, script, scope.job.searchPath)
    },
  })
  return { hasSucceeded, outputs: Object.fromEntries(values.outputs) }
}

/** Runs a built-in action. Throws JobFault for others. */
async function runAction(step: StepFile, run: StepRun): Promise<StepEnd> {
  const { contexts } = run
  const uses = interpolate(step.uses ?? '', contexts)
  if (!isCheckout(uses)) {
    throw new JobFault(`the action '${uses}' is not supported by this runner yet`)
  }
  return { hasSucceeded: await runCheckout(step, run), outputs: {} }
}

function runCheckout(step: StepFile, run: StepRun): Promise<boolean> {
  const { scope, contexts, env, signal, limit } = run
  const { task, instance, folder, log } = scope.job.input
  const github = task.context ?? {}
  return checkOut({
    inputs: scope.evaluateAll(step.inputs, contexts),
    instance,
    repository: String(github['repository'] ?? ''),
    sha: String(github['sha'] ?? ''),
    token: String(github['token'] ?? ''),
    workspace: folder.workspace,
    environment: scope.job.processEnvironment(env),
    log,
    signal,
    timeoutMs: leftMs(limit),
  })
}

async function workingFolderOf(step: StepFile, { scope, contexts }: StepRun): Promise<string> {
  const { workspace } = scope.job.input.folder
  const { defaults } = scope.options
  const named = textOf(step.workingDirectory ?? defaults.workingDirectory, contexts) ?? ''
  const path = resolve(workspace, named)
  const stats = await stat(path).catch(() => undefined)
  if (!stats?.isDirectory()) throw new JobFault(`the working-directory '${named}' does not exist`)
  return path
}
