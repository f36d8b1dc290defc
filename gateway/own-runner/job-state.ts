/** State of a running job: its contexts and the environment of its steps. */

import { join } from 'node:path'
import type { Task } from '../runner-protocol/messages.js'
import { Result } from '../runner-protocol/messages.js'
import { typedInputs } from '../workflows/dispatch-inputs.js'
import type { Contexts } from '../workflows/expression-values.js'
import type { StepValues } from './command-files.js'
import type { Isolate } from './isolation.js'
import type { ContainersInput, JobContainers } from './job-containers.js'
import type { JobFile } from './job-file.js'
import type { Texts } from './step-file.js'
import type { StepSummary } from './step-summary.js'
import type { TimeLimit } from './time-limit.js'

/** Parts of a task that its steps share. */
export interface JobInput extends ContainersInput {
  readonly task: Task
  readonly job: JobFile
  /** Starts programs outside of containers. */
  readonly isolate: Isolate
  readonly summary: StepSummary
  /** Address of the server, as the runner reaches it. */
  readonly instance: string
  readonly runnerName: string
  /** Folders of programs, separated by colons. */
  readonly searchPath: string
}

/** Script that an action leaves for the end of the job. */
export interface PostScript {
  /** Title in the log. */
  readonly title: string
  readonly condition: string
  run(bounds: {
    readonly signal: AbortSignal
    readonly limit: TimeLimit
  }): Promise<{ readonly hasSucceeded: boolean }>
}

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
  'retention_days',
]

/** The state of one job. */
export class JobState {
  readonly input: JobInput
  /** Contexts that do not change while the job runs. */
  readonly contexts: Contexts
  /** Folders of fetched actions by repository and ref. */
  readonly actionFolders = new Map<string, string>()
  /** Scripts in the order in which their actions have started. */
  readonly posts: PostScript[] = []
  /** Variables of workflow and job, and those that steps have set for later ones. */
  #env: Texts = {}
  #searchPath: string
  #containers: JobContainers | undefined
  #folders = 0

  constructor(input: JobInput) {
    this.input = input
    this.contexts = fixedContexts(input)
    this.#searchPath = input.searchPath
  }

  get env(): Texts {
    return this.#env
  }

  /** Folders of programs for the next step, separated by colons. */
  get searchPath(): string {
    return this.#searchPath
  }

  get containers(): JobContainers | undefined {
    return this.#containers
  }

  /** Runs later steps in the container of the job, if it has one. */
  useContainers(containers: JobContainers): void {
    this.#containers = containers
    this.#searchPath = containers.container?.searchPath ?? this.#searchPath
  }

  /** Starts the programs of steps. */
  get isolate(): Isolate {
    return this.#containers?.container?.isolate ?? this.input.isolate
  }

  /** Returns the environment of git, which runs outside of the container of the job. */
  outsideEnvironment(env: Texts): Texts {
    const { container } = this.#containers ?? {}
    const environment = this.processEnvironment(env)
    return container === undefined ? environment : { ...environment, PATH: this.input.searchPath }
  }

  /** Returns the complete environment of a process, for the variables of a step. */
  processEnvironment(env: Texts): Texts {
    const { folder } = this.input
    const github = this.contexts['github'] as Readonly<Record<string, unknown>>
    const variables = GITHUB_VARIABLES.map((name) => [
      `GITHUB_${name.toUpperCase()}`,
      typeof github[name] === 'string' ? github[name] : '',
    ])
    return {
      PATH: this.#searchPath,
      HOME: folder.home,
      ...this.#env,
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
      RUNNER_TOOL_CACHE: folder.toolCache,
    }
  }

  /** Returns the path of a new folder, for the files of a step's program or of an action. */
  nextFolder(kind: 'step' | 'action'): string {
    this.#folders += 1
    return join(this.input.folder.path, `${kind}-${this.#folders}`)
  }

  /** Sets variables for all later steps. */
  addVariables(env: Texts): void {
    this.#env = { ...this.#env, ...env }
  }

  /** Applies the variables and folders that a step has set. */
  apply({ env, paths }: StepValues): void {
    this.addVariables(Object.fromEntries(env))
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
    runner: {
      name: runnerName,
      os: OS,
      arch: ARCH,
      temp: folder.temp,
      tool_cache: folder.toolCache,
    },
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
