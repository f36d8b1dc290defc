/** Workflow files as the server understands them: events, and jobs with their needs. */

import type { JobPermissions } from '../../conf/job-permissions.js'
import { type DispatchInput, readInputs } from './dispatch-inputs.js'
import { type JobCall, readCall } from './read-call.js'
import { CONCURRENCY_KEYS } from './read-concurrency.js'
import { readPermissions } from './read-permissions.js'
import { readTriggers, type Trigger } from './triggers.js'
import { parseYaml, type YamlMap, type YamlValue } from './yaml-value.js'

/** A workflow file that is valid. */
export interface Workflow {
  /** Value of `name`; absent if the file has none. */
  readonly name: string | undefined
  readonly triggers: readonly Trigger[]
  /** Inputs of `workflow_dispatch`; undefined if the workflow cannot be started by hand. */
  readonly dispatchInputs: readonly DispatchInput[] | undefined
  /** Value of `concurrency`; undefined if the workflow has none. */
  readonly concurrency: YamlValue | undefined
  /** Jobs in the order of the file. */
  readonly jobs: readonly WorkflowJob[]
  /** Sentences about parts of the file that have no effect, without a final full stop. */
  readonly warnings: readonly string[]
  /** The whole file. */
  readonly file: YamlValue
}

export interface WorkflowJob {
  /** Key below `jobs`. */
  readonly id: string
  /** Value of `name`; undefined if the job has none. */
  readonly name: YamlValue | undefined
  /** Ids of the jobs that must end before. */
  readonly needs: readonly string[]
  /** Labels in the file that a runner must have; empty for a job that calls a reusable workflow. */
  readonly labels: readonly string[]
  /** Value of `if`; absent if the job has none. */
  readonly condition: string | undefined
  /** Names of the steps: their `name`, or else what they run or use. */
  readonly stepNames: readonly string[]
  /** The reusable workflow that the job calls; undefined if it has steps. */
  readonly call: JobCall | undefined
  /** Permissions of the job, or those of the workflow; undefined if neither has any. */
  readonly permissions: JobPermissions | undefined
  /** Value of `concurrency`; undefined if the job has none. */
  readonly concurrency: YamlValue | undefined
  readonly value: YamlValue
}

/** Maximum number of jobs of a run, in which each combination of a matrix is a job. */
export const JOBS_MAX = 500
const STEPS_MAX = 1_000
const LABELS_MAX = 50
const LABEL_CHARACTERS_MAX = 255
const ID = /^[A-Za-z_][A-Za-z0-9_-]{0,99}$/
const ID_RULE = 'must begin with a letter or _, and have at most 100 letters, digits, _ and -'

const WORKFLOW_KEYS = 'name run-name on true env defaults permissions concurrency jobs'.split(' ')
const JOB_KEYS = `name needs runs-on if permissions concurrency outputs env defaults steps
  timeout-minutes strategy continue-on-error container services uses with secrets
  environment`.split(/\s+/)
const STEP_KEYS = `id name if run uses with env shell working-directory continue-on-error
  timeout-minutes`.split(/\s+/)

/** Reads a workflow file. Throws FileFault with the first fault. */
export function readWorkflow(text: string): Workflow {
  const warnings: string[] = []
  const warn = (warning: string) => warnings.push(warning)
  const file = parseYaml(text)
  const fields = fieldsOf(file, WORKFLOW_KEYS, warn)
  // In YAML 1.1, the key `on` is a boolean.
  const on = fields.get('on') ?? fields.get('true') ?? file.fail("has no 'on': nothing starts it")
  const jobs = fields.get('jobs') ?? file.fail("has no 'jobs'")
  const common = fields.get('permissions')
  const concurrency = readGroup(fields, warn)
  return {
    name: fields.get('name')?.text(),
    triggers: readTriggers(on, warn),
    dispatchInputs: readInputs(on, 'workflow_dispatch'),
    concurrency,
    jobs: readJobs(jobs, common === undefined ? undefined : readPermissions(common, warn), warn),
    warnings,
    file,
  }
}

/**
 * Returns the stages of the jobs: those of one stage need jobs of earlier stages only. Jobs that
 * need themselves, directly or through others, are left out.
 */
export function stagesOf(jobs: readonly WorkflowJob[]): ReadonlyArray<readonly WorkflowJob[]> {
  const stages: (readonly WorkflowJob[])[] = []
  const open = new Map(jobs.map(({ id, needs }) => [id, new Set(needs).size]))
  const dependents = new Map<string, WorkflowJob[]>(jobs.map(({ id }) => [id, []]))
  for (const job of jobs) for (const id of new Set(job.needs)) dependents.get(id)?.push(job)
  let stage = jobs.filter(({ needs }) => needs.length === 0)
  while (stage.length > 0) {
    stages.push(stage)
    const next: WorkflowJob[] = []
    for (const dependent of stage.flatMap(({ id }) => dependents.get(id) ?? [])) {
      const left = (open.get(dependent.id) ?? 0) - 1
      open.set(dependent.id, left)
      if (left === 0) next.push(dependent)
    }
    stage = next
  }
  return stages
}

type Warn = (warning: string) => void

function fieldsOf(value: YamlValue, keys: readonly string[], warn: Warn): YamlMap {
  const fields = value.map()
  for (const [key, { name }] of fields) {
    if (!keys.includes(key)) warn(`${name} is not a key of workflow files and has no effect`)
  }
  return fields
}

/** Returns the value of `concurrency`, after warnings about its keys. */
function readGroup(fields: YamlMap, warn: Warn): YamlValue | undefined {
  const concurrency = fields.get('concurrency')
  if (concurrency?.isMap) fieldsOf(concurrency, CONCURRENCY_KEYS, warn)
  return concurrency
}

function readJobs(
  value: YamlValue,
  common: JobPermissions | undefined,
  warn: Warn,
): readonly WorkflowJob[] {
  const entries = [...value.map()]
  if (entries.length === 0) value.fail('has no job')
  if (entries.length > JOBS_MAX) value.fail(`has more than ${JOBS_MAX} jobs`)
  const jobs = entries.map(([id, job]) => readJob(id, job, { common, warn }))
  for (const [id, job] of entries) checkNeeds(id, job, value.map())
  const staged = new Set(stagesOf(jobs).flatMap((stage) => stage.map(({ id }) => id)))
  for (const [id, job] of entries) {
    if (!staged.has(id)) job.fail('needs itself, through the jobs that it needs')
  }
  return jobs
}

interface Surroundings {
  /** Permissions of the workflow. */
  readonly common: JobPermissions | undefined
  readonly warn: Warn
}

function readJob(id: string, job: YamlValue, { common, warn }: Surroundings): WorkflowJob {
  if (!ID.test(id)) job.fail(ID_RULE)
  const fields = fieldsOf(job, JOB_KEYS, warn)
  const call = readCall(fields)
  const labels = fields.get('runs-on')
  const steps = fields.get('steps')
  const permissions = fields.get('permissions')
  const name = fields.get('name')
  name?.text()
  if (call === undefined) {
    if (labels === undefined) return job.fail("has no 'runs-on'")
    if (steps === undefined) return job.fail("has no 'steps'")
    readSteps(steps, warn)
  }
  return {
    id,
    name,
    needs: fields.get('needs')?.texts() ?? [],
    labels: labels === undefined ? [] : readLabels(labels),
    condition: fields.get('if')?.text(),
    call,
    stepNames: steps === undefined ? [] : steps.list().map(nameOfStep),
    permissions: permissions === undefined ? common : readPermissions(permissions, warn),
    concurrency: readGroup(fields, warn),
    value: job,
  }
}

const STEP_NAME_CHARACTERS_MAX = 100

function nameOfStep(step: YamlValue): string {
  const fields = step.map()
  const name = fields.get('name') ?? fields.get('uses') ?? fields.get('run')
  const [line = ''] = (name?.text() ?? '').trim().split('\n')
  return [...line].slice(0, STEP_NAME_CHARACTERS_MAX).join('')
}

function checkNeeds(id: string, job: YamlValue, jobs: YamlMap): void {
  const needs = job.map().get('needs')
  for (const needed of needs?.texts() ?? []) {
    if (needed === id) needs?.fail('names the job itself')
    if (!jobs.has(needed)) needs?.fail(`names a job '${needed}' that does not exist`)
  }
}

function readLabels(value: YamlValue): readonly string[] {
  return checkLabels(value, labelsIn(value)?.texts() ?? [])
}

/** Returns the labels of a `runs-on`, which may have a group. */
export function labelsIn(value: YamlValue): YamlValue | undefined {
  return value.isMap ? value.map().get('labels') : value
}

/** Returns the labels of a `runs-on`. Throws FileFault for too many, too long and empty ones. */
export function checkLabels(value: YamlValue, texts: readonly string[]): readonly string[] {
  if (texts.length > LABELS_MAX) value.fail(`has more than ${LABELS_MAX} labels`)
  const long = texts.find((text) => text.length > LABEL_CHARACTERS_MAX)
  if (long !== undefined) value.fail(`has a label of more than ${LABEL_CHARACTERS_MAX} characters`)
  if (texts.includes('')) value.fail('has an empty label')
  return texts.length === 0 ? value.fail('has no label') : texts
}

function readSteps(value: YamlValue, warn: Warn): void {
  const steps = value.list()
  if (steps.length === 0) value.fail('has no step')
  if (steps.length > STEPS_MAX) value.fail(`has more than ${STEPS_MAX} steps`)
  const ids = new Set<string>()
  for (const step of steps) {
    const fields = fieldsOf(step, STEP_KEYS, warn)
    if (fields.has('run') === fields.has('uses')) step.fail("must have either 'run' or 'uses'")
    for (const key of ['run', 'uses', 'name', 'shell']) fields.get(key)?.text()
    const id = fields.get('id')
    const text = id?.text()
    if (text === undefined) continue
    if (!ID.test(text)) id?.fail(ID_RULE)
    if (ids.has(text)) id?.fail(`repeats the id '${text}' of an earlier step`)
    ids.add(text)
  }
}
