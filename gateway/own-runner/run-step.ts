/** Runs one step of a job or of a composite action. */

import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Contexts } from '../workflows/expression-values.js'
import { evaluateCondition, interpolate } from '../workflows/expressions.js'
import type { CompositeAction } from './action-file.js'
import { fillActionInputs } from './action-inputs.js'
import { checkOut, isCheckout } from './checkout.js'
import { faultSentence, JobFault } from './job-fault.js'
import { type Action, openAction } from './open-action.js'
import { runNodeAction } from './run-node-action.js'
import { shellCommand } from './shell.js'
import type { StepFile, Texts } from './step-file.js'
import { writeNewFile } from './step-folder.js'
import { runStepProgram, type StepEnd, type StepRun } from './step-program.js'
import { type StepResult, StepScope } from './step-scope.js'
import { leftMs, startLimit } from './time-limit.js'

/**
 * Runs a step if its condition is met, and notes its result and outputs. Returns its conclusion,
 * which is `success` if its failure is tolerated.
 */
export async function runStep(step: StepFile, scope: StepScope): Promise<StepResult> {
  const { log, cancellation } = scope.job.input
  const signal = cancellation.signalOfStep()
  let outcome: StepResult = 'failure'
  let isTolerated = false
  let outputs: Texts = {}
  try {
    if (evaluateCondition(step.condition, scope.contexts(), scope.outcome)) {
      const env = { ...scope.options.env, ...scope.evaluateAll(step.env) }
      const contexts = scope.contexts(env)
      isTolerated = textOf(step.continueOnError, contexts) === 'true'
      const title = titleOf(step, contexts)
      log.add(`Run ${title}`)
      const limit = startLimit(textOf(step.timeoutMinutes, contexts), scope.options.limit)
      const variables = { ...scope.options.variables, GITHUB_ACTION: nameOf(step) }
      const run = { scope, title, contexts, env, variables, signal, limit }
      const end = await (step.uses === undefined ? runScript : runAction)(step, run)
      outputs = end.outputs
      outcome = end.hasSucceeded ? 'success' : signal.aborted ? 'cancelled' : 'failure'
    } else {
      outcome = 'skipped'
    }
  } catch (error) {
    outcome = signal.aborted ? 'cancelled' : 'failure'
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

/** Returns the name of a step for programs, as on GitHub. */
function nameOf({ id, uses }: StepFile): string {
  return id ?? `__${uses?.replace(/@.*/, '').replaceAll(/\W+/g, '_') ?? 'run'}`
}

/** Runs the script of a step. Throws JobFault. */
async function runScript(step: StepFile, run: StepRun): Promise<StepEnd> {
  const { scope, contexts } = run
  const { defaults } = scope.options
  const shell = textOf(step.shell ?? defaults.shell, contexts)
  const text = interpolate(step.run ?? '', contexts)
  return runStepProgram(run, {
    cwd: await workingFolderOf(step, run),
    async command(folder) {
      await writeNewFile(folder, 'script', text)
      const script = join(folder, 'script')
      const { containers, searchPath } = scope.job
      return shellCommand(shell, script, containers?.container ? undefined : searchPath)
    },
  })
}

/** Runs an action. Throws JobFault. */
async function runAction(step: StepFile, run: StepRun): Promise<StepEnd> {
  const uses = interpolate(step.uses ?? '', run.contexts)
  if (isCheckout(uses)) return { hasSucceeded: await runCheckout(step, run), outputs: {} }
  const { scope } = run
  const action = await openAction(uses, run)
  const contexts = actionContexts(action, run)
  const inputs = fillActionInputs(action.file.inputs, {
    given: scope.evaluateAll(step.inputs, run.contexts),
    evaluate: (text) => interpolate(text, contexts),
    warn: (sentence) => scope.job.input.log.add(`Warning: ${sentence}.`),
  })
  const variables = {
    ...run.variables,
    GITHUB_ACTION_PATH: action.folder,
    GITHUB_ACTION_REPOSITORY: action.source?.repository ?? '',
    GITHUB_ACTION_REF: action.source?.ref ?? '',
  }
  const { file, folder } = action
  if (file.using === 'node') return runNodeAction({ file, folder, inputs }, { ...run, variables })
  return runComposite(file, { ...run, contexts: { ...contexts, inputs }, variables })
}

/** Returns the contexts of an action: neither secrets nor values of the workflow. */
function actionContexts({ folder, source }: Action, { scope, variables }: StepRun): Contexts {
  const { github, runner = {}, matrix = {}, strategy = {} } = scope.options.contexts
  const own = {
    action: variables['GITHUB_ACTION'] ?? '',
    action_path: folder,
    action_repository: source?.repository ?? '',
    action_ref: source?.ref ?? '',
  }
  return { github: { ...(github as object), ...own }, runner, matrix, strategy }
}

/** Maximum number of actions that contain each other. */
const DEPTH_MAX = 9

/** Runs the steps of an action, with the contexts of the action. Throws JobFault. */
async function runComposite(file: CompositeAction, run: StepRun): Promise<StepEnd> {
  const { contexts, env, variables, limit, scope } = run
  const depth = scope.options.depth + 1
  if (depth > DEPTH_MAX) {
    throw new JobFault(`the action is nested more than ${DEPTH_MAX} actions deep, or uses itself`)
  }
  const inner = new StepScope(scope.job, { contexts, defaults: {}, env, variables, depth, limit })
  for (const step of file.steps) await runStep(step, inner)
  return {
    hasSucceeded: !inner.hasFailed && !run.signal.aborted,
    outputs: inner.evaluateAll(file.outputs),
  }
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
    environment: scope.job.outsideEnvironment(env),
    isolate: scope.job.input.isolate,
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
  // A folder of the container of the job is looked for there.
  if (scope.job.containers?.container !== undefined) return path
  const stats = await stat(path).catch(() => undefined)
  if (!stats?.isDirectory()) throw new JobFault(`the working-directory '${named}' does not exist`)
  return path
}
