/** The jobs of a run: those of the file, one for each combination of a matrix. */

import type { JobPermissions } from '../../conf/job-permissions.js'
import { type Evaluation, evaluateField, evaluateText, newCharacters } from './evaluate-field.js'
import type { Contexts } from './expression-values.js'
import { newWork } from './expression-work.js'
import { hasExpression } from './expressions.js'
import type { Combination } from './matrix.js'
import { payloadWriter, type WriteJobPayload } from './payload.js'
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
import type { PlainValue } from './yaml-value.js'

export interface PlannedJob {
  /** Key below `jobs`, which all combinations of a matrix have. */
  readonly key: string
  readonly name: string
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
  /** Workflow with this one job, for the runner. */
  readonly payload: string
}

/** The jobs of a run, and the concurrency group of the run. */
export interface PlannedRun {
  readonly jobs: readonly PlannedJob[]
  readonly concurrency: PlannedGroup | undefined
}

/** Returns the jobs of a workflow that an event has started, and its group. Throws FileFault. */
export function planJobs(workflow: Workflow, event: string, contexts: Contexts): PlannedRun {
  const common = { contexts, work: newWork(), characters: newCharacters() }
  const grouping = concurrencyContexts(contexts)
  const concurrency = readConcurrency(workflow.concurrency, { ...common, contexts: grouping })
  const writerOf = payloadWriter(workflow, event)
  const planned: PlannedJob[] = []
  for (const job of workflow.jobs) {
    const write = writerOf(job)
    const strategy = readStrategy(job.value.map().get('strategy'), common)
    const combinations = strategy.combinations ?? [undefined]
    if (planned.length + combinations.length > JOBS_MAX) {
      job.value.fail(`has more combinations than the run may have jobs, which are ${JOBS_MAX}`)
    }
    for (const combination of combinations) {
      const matrix = Object.fromEntries(combination ?? [])
      const evaluation = { ...common, contexts: { ...contexts, matrix } }
      const grouped = { ...common, contexts: { ...grouping, matrix } }
      const group = readConcurrency(job.concurrency, grouped)
      if (group !== undefined && isSameGroup(group, concurrency)) {
        job.concurrency?.fail('names the group of the workflow: the job would wait for its own run')
      }
      planned.push({
        ...planJob(job, { strategy, combination, evaluation, write }),
        concurrency: group,
      })
    }
  }
  return { jobs: planned, concurrency }
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
    labels: labelsOf(job, evaluation),
    failsFast,
    maxParallel,
    continuesOnError: continues !== undefined && readSwitch(continues, evaluation),
  }
  const { id, needs, condition, stepNames, permissions } = job
  const payload = write({ ...decided, combination })
  return { key: id, needs, condition, stepNames, permissions, ...decided, payload }
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
