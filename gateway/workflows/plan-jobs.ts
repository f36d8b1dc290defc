/** The jobs of a run: those of the file, one for each combination of a matrix. */

import type { JobPermissions } from '../../conf/job-permissions.js'
import type { InputTexts } from './dispatch-inputs.js'
import { type Evaluation, evaluateField, evaluateText, newCharacters } from './evaluate-field.js'
import type { Contexts } from './expression-values.js'
import { newWork } from './expression-work.js'
import { hasExpression } from './expressions.js'
import type { Combination } from './matrix.js'
import { payloadWriter, type WriteJobPayload } from './payload.js'
import type { CalledPlace, CallSecrets, JobCall } from './read-call.js'
import {
  concurrencyContexts,
  isSameGroup,
  type PlannedGroup,
  readConcurrency,
} from './read-concurrency.js'
import { readStrategy, readSwitch, type Strategy } from './read-strategy.js'
import {
  checkLabels,
  JOBS_MAX,
  labelsIn,
  type Workflow,
  type WorkflowJob,
} from './read-workflow.js'
import type { PlainValue, YamlValue } from './yaml-value.js'

export interface PlannedJob {
  /** Key below `jobs`, which all combinations of a matrix have. */
  readonly key: string
  readonly name: string
  /** Name of the environment; empty if the job has none. */
  readonly environment: string
  readonly needs: readonly string[]
  readonly labels: readonly string[]
  readonly condition: string | undefined
  readonly stepNames: readonly string[]
  readonly permissions: JobPermissions | undefined
  /** True if the failure of the job cancels the others with its key. */
  readonly failsFast: boolean
  /** Maximum number of jobs with the key that wait or run; undefined if there is no limit. */
  readonly maxParallel: number | undefined
  /** True if a failure of the job counts as a success for the run and for other jobs. */
  readonly continuesOnError: boolean
  readonly concurrency: PlannedGroup | undefined
  /** Workflow with this one job, for the runner; empty if the job is deferred. */
  readonly payload: string
  /** True if the job is planned when its needs have ended; it may become several jobs then. */
  readonly isDeferred: boolean
}

/** The jobs and characters that a run may have, besides those that it has. */
export interface RunLimits {
  readonly jobsMax: number
  /** Maximum number of characters of all payloads. */
  readonly charactersMax: number
}

export const RUN_LIMITS: RunLimits = { jobsMax: JOBS_MAX, charactersMax: 8_388_608 }

/** Maximum number of calls of workflows of a run. */
export const CALLS_MAX = 50

/** The jobs of a run, and the concurrency group of the run. */
export interface PlannedRun {
  readonly jobs: readonly PlannedJob[]
  readonly concurrency: PlannedGroup | undefined
}

/**
 * Returns the jobs of a workflow that an event has started, and its group. Jobs that call a
 * workflow, or whose fields depend on their needs, are deferred. Throws FileFault.
 */
export function planJobs(
  workflow: Workflow,
  event: string,
  contexts: Contexts,
  limits: RunLimits = RUN_LIMITS,
): PlannedRun {
  const { plan, concurrency } = planner(workflow, { event, contexts, limits })
  const jobs = workflow.jobs.flatMap((job) => (isDeferred(job) ? [deferredJob(job)] : plan(job)))
  return { jobs, concurrency }
}

export interface DeferredJobs {
  /** Key of the deferred job. */
  readonly key: string
  readonly event: string
  /** Contexts, with `needs`. */
  readonly contexts: Contexts
  readonly limits: RunLimits
}

/** Calls of a workflow, one for each combination of the matrix of the job. */
export interface PlannedCalls {
  readonly place: CalledPlace
  readonly secrets: CallSecrets
  readonly calls: readonly PlannedCall[]
}

export interface PlannedCall {
  /** Name of the job, which is before those of the called jobs. */
  readonly name: string
  /** Values of `with`. */
  readonly given: InputTexts
}

/**
 * Returns the jobs that a deferred job becomes when its needs have ended, or the workflow that it
 * calls. Throws FileFault.
 */
export function planDeferredJobs(
  workflow: Workflow,
  { key, ...facts }: DeferredJobs,
): readonly PlannedJob[] | PlannedCalls {
  const job = workflow.jobs.find(({ id }) => id === key)
  if (job === undefined) throw new Error(`the workflow has no job ${key}`)
  if (job.call !== undefined) return planCalls(job, job.call, facts)
  return planner(workflow, facts).plan(job)
}

function planCalls(
  job: WorkflowJob,
  { place, secrets, inputs }: JobCall,
  { contexts }: Pick<DeferredJobs, 'contexts'>,
): PlannedCalls {
  const common = { contexts, work: newWork(), characters: newCharacters() }
  const { combinations = [undefined] } = readStrategy(job.value.map().get('strategy'), common)
  if (combinations.length > CALLS_MAX) {
    job.value.fail(`has more combinations than the run may have calls, which are ${CALLS_MAX}`)
  }
  const calls = combinations.map((combination) => {
    const matrix = Object.fromEntries(combination ?? [])
    const evaluation = { ...common, contexts: { ...contexts, matrix } }
    const given = [...(inputs?.map() ?? [])].map(([name, value]) => [
      name,
      textOfInput(value, evaluation),
    ])
    return { name: nameOf(job, combination, evaluation), given: Object.fromEntries(given) }
  })
  return { place, secrets, calls }
}

function textOfInput(value: YamlValue, evaluation: Evaluation): string {
  const evaluated = evaluateField(value, evaluation)
  return typeof evaluated === 'object' && evaluated !== null
    ? value.fail('must be a text, a number or a boolean')
    : String(evaluated ?? '')
}

interface Planner extends Pick<PlannedRun, 'concurrency'> {
  /** Plans the jobs of a key. */
  readonly plan: (job: WorkflowJob) => readonly PlannedJob[]
}

function planner(
  workflow: Workflow,
  { event, contexts, limits }: Omit<DeferredJobs, 'key'>,
): Planner {
  const common = { contexts, work: newWork(), characters: newCharacters() }
  const grouping = concurrencyContexts(contexts)
  const concurrency = readConcurrency(workflow.concurrency, { ...common, contexts: grouping })
  const writerOf = payloadWriter(workflow, event, limits.charactersMax)
  let count = 0
  const plan = (job: WorkflowJob) => {
    const write = writerOf(job)
    const strategy = readStrategy(job.value.map().get('strategy'), common)
    const combinations = strategy.combinations ?? [undefined]
    count += combinations.length
    if (count > limits.jobsMax) {
      job.value.fail(`has more combinations than the run may have jobs, which are ${JOBS_MAX}`)
    }
    return combinations.map((combination) => {
      const matrix = Object.fromEntries(combination ?? [])
      const evaluation = { ...common, contexts: { ...contexts, matrix } }
      const grouped = { ...common, contexts: { ...grouping, matrix } }
      const group = readConcurrency(job.concurrency, grouped)
      if (group !== undefined && isSameGroup(group, concurrency)) {
        job.concurrency?.fail('names the group of the workflow: the job would wait for its own run')
      }
      const planned = planJob(job, { strategy, combination, evaluation, write })
      return { ...planned, concurrency: group }
    })
  }
  return { plan, concurrency }
}

/** Keys of a job whose expressions may depend on the jobs that it needs. */
const DEFERRED_KEYS = [
  'strategy',
  'name',
  'runs-on',
  'continue-on-error',
  'concurrency',
  'environment',
]

/** True if a job calls a workflow, or if its fields depend on the jobs that it needs. */
function isDeferred({ needs, value, call }: WorkflowJob): boolean {
  if (call !== undefined) return true
  if (needs.length === 0) return false
  const fields = value.map()
  return DEFERRED_KEYS.some((key) => {
    const field = fields.get(key)
    return field !== undefined && mentionsNeeds(field)
  })
}

/** True if an expression in a value may read `needs`. */
function mentionsNeeds({ content }: YamlValue): boolean {
  if (typeof content === 'string') return hasExpression(content) && /\bneeds\b/i.test(content)
  if (content === null || typeof content !== 'object') return false
  const values = content instanceof Map ? [...content.values()] : content
  return (values as readonly YamlValue[]).some(mentionsNeeds)
}

/** Returns a job that is planned when its needs have ended. */
function deferredJob({
  id,
  name,
  needs,
  condition,
  stepNames,
  permissions,
}: WorkflowJob): PlannedJob {
  const text = name?.text() ?? id
  return {
    key: id,
    name: hasExpression(text) ? id : text,
    environment: '',
    needs,
    labels: [],
    condition,
    stepNames,
    permissions,
    failsFast: false,
    maxParallel: undefined,
    continuesOnError: false,
    concurrency: undefined,
    payload: '',
    isDeferred: true,
  }
}

interface Planning {
  readonly strategy: Strategy
  readonly combination: Combination | undefined
  readonly evaluation: Evaluation
  readonly write: WriteJobPayload
}

function planJob(job: WorkflowJob, planning: Planning): Omit<PlannedJob, 'concurrency'> {
  const { strategy, combination, evaluation, write } = planning
  const { failsFast, maxParallel } = strategy
  const continues = job.value.map().get('continue-on-error')
  const decided = {
    name: nameOf(job, combination, evaluation),
    environment: environmentOf(job, evaluation),
    labels: labelsOf(job, evaluation),
    failsFast,
    maxParallel,
    continuesOnError: continues !== undefined && readSwitch(continues, evaluation),
  }
  const { id, needs, condition, stepNames, permissions } = job
  const payload = write({ ...decided, combination })
  const isDeferred = false
  return { key: id, needs, condition, stepNames, permissions, ...decided, payload, isDeferred }
}

/** Returns the name, in one line. Without an expression, the values of the matrix follow it. */
function nameOf(
  { id, name }: WorkflowJob,
  combination: Combination | undefined,
  evaluation: Evaluation,
): string {
  if (name !== undefined && hasExpression(name.text())) {
    return evaluateText(name, evaluation).replace(/\s+/g, ' ').trim()
  }
  const values = [...(combination?.values() ?? [])].flatMap(textsIn)
  return `${name?.text() ?? id}${values.length === 0 ? '' : ` (${values.join(', ')})`}`
}

/** Returns the name of the environment, in one line; empty if the job has none. */
function environmentOf({ value }: WorkflowJob, evaluation: Evaluation): string {
  const field = value.map().get('environment')
  const name = field?.isMap === true ? field.map().get('name') : field
  return name === undefined ? '' : evaluateText(name, evaluation).replace(/\s+/g, ' ').trim()
}

/** Returns the texts, numbers and booleans within a value, without empty texts. */
function textsIn(value: PlainValue): readonly string[] {
  if (value === null || value === '') return []
  return typeof value === 'object' ? Object.values(value).flatMap(textsIn) : [String(value)]
}

function labelsOf({ value }: WorkflowJob, evaluation: Evaluation): readonly string[] {
  const field = value.map().get('runs-on')
  const labels = field && labelsIn(field)
  if (field === undefined || labels === undefined) return []
  const evaluated = evaluateField(labels, evaluation)
  const list = Array.isArray(evaluated) ? evaluated : [evaluated]
  const texts = list.map((label) =>
    typeof label === 'object' && label !== null
      ? field.fail('must be a text or a list of texts')
      : String(label ?? ''),
  )
  return checkLabels(field, texts)
}
