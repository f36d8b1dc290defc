/** Reads the workflow file of a task, which has exactly one job. */

import { type DispatchInput, readInputs } from '../workflows/dispatch-inputs.js'
import type { ContextValue } from '../workflows/expression-values.js'
import { interpolate } from '../workflows/expressions.js'
import { type PlainValue, parseYaml, type YamlValue } from '../workflows/yaml-value.js'
import { type ContainerFile, readJobContainer, readServices } from './container-file.js'
import { JobFault } from './job-fault.js'
import { fieldOf, readStep, type StepFile, type Texts, textOf, textsOf } from './step-file.js'

/** Settings of the `run` steps of a workflow or job. */
export interface RunDefaults {
  readonly shell?: string
  readonly workingDirectory?: string
}

/** A job as in the file, with the settings of its workflow. */
export interface JobFile {
  readonly workflowEnv: Texts
  readonly env: Texts
  readonly defaults: RunDefaults
  readonly steps: readonly StepFile[]
  readonly outputs: Texts
  readonly timeoutMinutes?: string
  readonly matrix: ContextValue
  readonly strategy: ContextValue
  /** Inputs of the event that has started the workflow, with their types. */
  readonly dispatchInputs: readonly DispatchInput[]
  /** Container in which the steps run. */
  readonly container: ContainerFile | undefined
  readonly services: ReadonlyMap<string, ContainerFile>
}

/** Reads the file. Throws FileFault, or JobFault for a job that this runner does not support. */
export function readJobFile(text: string): JobFile {
  const workflow = parseYaml(text)
  const jobs = [...(workflow.map().get('jobs') ?? workflow.fail("has no 'jobs'")).map().values()]
  const [job] = jobs
  if (job === undefined || jobs.length > 1) {
    throw new JobFault(`the task has ${jobs.length} jobs instead of one`)
  }
  if (fieldOf(job, 'uses') !== undefined) {
    throw new JobFault("'uses' of a job is not supported by this runner yet")
  }
  const strategy = fieldOf(job, 'strategy')
  const timeoutMinutes = textOf(job, 'timeout-minutes')
  const on = fieldOf(workflow, 'on')
  return {
    workflowEnv: textsOf(workflow, 'env'),
    env: textsOf(job, 'env'),
    defaults: { ...defaultsOf(workflow), ...defaultsOf(job) },
    dispatchInputs: on === undefined ? [] : inputsOf(on),
    steps: (fieldOf(job, 'steps')?.list() ?? []).map(readStep),
    outputs: textsOf(job, 'outputs'),
    container: readJobContainer(job),
    services: readServices(job),
    matrix: strategy === undefined ? {} : matrixOf(strategy),
    strategy: {
      'fail-fast': fieldOf(strategy, 'fail-fast')?.plain() ?? true,
      'job-index': 0,
      'job-total': 1,
    },
    ...(timeoutMinutes === undefined ? {} : { timeoutMinutes }),
  }
}

/** Returns the inputs of the event, of which the file has only the one that has started it. */
function inputsOf(on: YamlValue): readonly DispatchInput[] {
  return readInputs(on, 'workflow_dispatch') ?? readInputs(on, 'workflow_call') ?? []
}

/**
 * Returns the values of the matrix, in which the server has left one value for each key. Texts in
 * them are escaped, so that runners evaluate nothing that is a value.
 */
function matrixOf(strategy: YamlValue): ContextValue {
  const matrix = fieldOf(strategy, 'matrix')
  if (matrix === undefined) return {}
  return Object.fromEntries(
    [...matrix.map()].map(([key, value]) => {
      const [only] = value.isList ? value.list() : [value]
      return [key, only === undefined ? null : unescaped(only.plain())]
    }),
  )
}

function unescaped(value: PlainValue): PlainValue {
  if (typeof value === 'string') return interpolate(value, {})
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(unescaped)
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, unescaped(field)]))
}

function defaultsOf(value: YamlValue): RunDefaults {
  const run = fieldOf(fieldOf(value, 'defaults'), 'run')
  const shell = textOf(run, 'shell')
  const workingDirectory = textOf(run, 'working-directory')
  return {
    ...(shell === undefined ? {} : { shell }),
    ...(workingDirectory === undefined ? {} : { workingDirectory }),
  }
}
