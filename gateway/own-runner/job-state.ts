/** State of a running job: its contexts, its environment, and the results of its steps. */

import type { Task } from '../runner-protocol/messages.js'
import { Result } from '../runner-protocol/messages.js'
import { typedInputs } from '../workflows/dispatch-inputs.js'
import type { Contexts, ContextValue } from '../workflows/expression-values.js'
import { interpolate, type Outcome } from '../workflows/expressions.js'
import type { Cancellation } from './cancellation.js'
import type { StepValues } from './command-files.js'
import type { Isolate } from './isolation.js'
import type { JobFile } from './job-file.js'
import type { TaskFolder } from './task-folder.js'
import type { TaskLog } from './task-log.js'

/** Parts of a task that its steps share. */
export interface JobInput {
  readonly task: Task
  readonly job: JobFile
  readonly folder: TaskFolder
  readonly isolate: Isolate
  readonly log: TaskLog
  readonly cancellation: Cancellation
  /** Address of the server, as the runner reaches it. */
  readonly instance: string
  readonly runnerName: string
  /** Folders of programs, separated by colons. */
  readonly searchPath: string
}

/** Result of a step, in the words of the context `steps`. */
export type StepResult = 'success' | 'failure' | 'cancelled' | 'skipped'

/** Entry of a step in the context `steps`. */
interface StepEntry {
  readonly outcome: StepResult
  readonly conclusion: StepResult
  readonly outputs: Texts
}

type Texts = Readonly<Record<string, string>>

/** Results as in the context `needs`. */
export const RESULT_NAMES: Readonly<Record<Result, string>> = {
  [Result.UNSPECIFIED]: '',
  [Result.SUCCESS]: 'success',
  [Result.FAILURE]: 'failure',
  [Result.CANCELLED]: 'cancelled',
  [Result.SKIPPED]: 'skipped',
}

/** Variables of steps that are values of the context `github`, in capitals with a prefix. */
const GITHUB_VARIABLES = [
  'repository',
  'repository_owner',
  'sha',
  'ref',
  'ref_name',
  'ref_type',
  'head_ref',
  'base_ref',
  'server_url',
  'api_url',
  'run_id',
  'run_number',
  'run_attempt',
  'actor',
  'event_name',
  'workflow',
  'job',
]

/** The state of one job. */
export class JobState {
  hasFailed = false
  /** True if the job was ended because it ran too long, which is a failure. */
  hasTimedOut = false
  readonly input: JobInput
  /** Variables of workflow and job, and those that steps have set for later ones. */
  #env: Texts = {}
  #searchPath: string
  readonly #steps: Record<string, ContextValue> = {}
  readonly #fixedContexts: Contexts

  /** Throws ExpressionFault if `env` of the workflow or the job has one. */
  constructor(input: JobInput) {
    this.input = input
    this.#searchPath = input.searchPath
    this.#fixedContexts = fixedContexts(input)
    this.#env = this.environmentWith(input.job.workflowEnv)
    this.#env = this.environmentWith(input.job.env)
  }

  get outcome(): Outcome {
    const { isCancelled } = this.input.cancellation
    const { hasFailed } = this
    return { isCancelled, hasFailed, hasSucceeded: !isCancelled && !hasFailed }
  }

  /** Folders of programs for the next step, separated by colons. */
  get searchPath(): string {
    return this.#searchPath
  }

  /** Returns the contexts for a step with the given variables. */
  contexts(env: Texts = this.#env): Contexts {
    const { isCancelled, hasFailed } = this.outcome
    const status = isCancelled ? 'cancelled' : hasFailed ? 'failure' : 'success'
    return { ...this.#fixedContexts, env, job: { status }, steps: this.#steps }
  }

  /** Returns the variables so far and those of `texts`, whose expressions are evaluated. */
  environmentWith(texts: Texts): Texts {
    const contexts = this.contexts()
    const values = Object.entries(texts).map(([name, text]) => [name, interpolate(text, contexts)])
    return { ...this.#env, ...Object.fromEntries(values) }
  }

  /** Returns the complete environment of a process, for the variables of a step. */
  processEnvironment(env: Texts): Texts {
    const { folder } = this.input
    const github = this.#fixedContexts['github'] as Readonly<Record<string, unknown>>
    const variables = GITHUB_VARIABLES.map((name) => [
      `GITHUB_${name.toUpperCase()}`,
      typeof github[name] === 'string' ? github[name] : '',
    ])
    return {
      PATH: this.#searchPath,
      HOME: folder.home,
      ...env,
      ...Object.fromEntries(variables),
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: folder.workspace,
      GITHUB_EVENT_PATH: folder.eventFile,
      RUNNER_NAME: this.input.runnerName,
      RUNNER_OS: OS,
      RUNNER_ARCH: ARCH,
      RUNNER_TEMP: folder.temp,
    }
  }

  /** Notes the result of a step with an id, for the context `steps`. */
  noteStep(id: string, step: StepEntry): void {
    this.#steps[id] = { ...step }
  }

  /** Applies the variables and folders that a step has set. */
  apply({ env, paths }: StepValues): void {
    this.#env = { ...this.#env, ...Object.fromEntries(env) }
    this.#searchPath = [...paths.toReversed(), this.#searchPath].join(':')
  }
}

const OS = process.platform === 'darwin' ? 'macOS' : 'Linux'
const ARCH = process.arch === 'arm64' ? 'ARM64' : 'X64'

/** Returns the contexts that do not change while the job runs. */
function fixedContexts({ task, job, folder, runnerName }: JobInput): Contexts {
  const github = task.context ?? {}
  const event = github['event']
  const inputs = isRecord(event) && isRecord(event['inputs']) ? event['inputs'] : {}
  const needs = Object.entries(task.needs).map(([name, { outputs, result }]) => [
    name,
    { outputs, result: RESULT_NAMES[result] },
  ])
  return {
    github: { ...github, workspace: folder.workspace, event_path: folder.eventFile },
    runner: { name: runnerName, os: OS, arch: ARCH, temp: folder.temp },
    secrets: task.secrets,
    vars: task.vars,
    needs: Object.fromEntries(needs),
    matrix: job.matrix,
    strategy: job.strategy,
    inputs: { ...(inputs as Texts), ...typedInputs(job.dispatchInputs, inputs as Texts) },
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
