/** The workflow that a runner gets: the file with one job, in which all decisions are made. */

import { escapeExpressions } from './expressions.js'
import type { Combination } from './matrix.js'
import type { Workflow, WorkflowJob } from './read-workflow.js'
import { FileFault, type PlainValue, type YamlValue } from './yaml-value.js'

/** Decisions about a job; texts in them are values, in which nothing is evaluated again. */
export interface Decided {
  readonly name: string
  readonly labels: readonly string[]
  readonly combination: Combination | undefined
  readonly failsFast: boolean
  readonly maxParallel: number | undefined
  readonly continuesOnError: boolean
}

/** Keys of a workflow that the runner evaluates. */
const WORKFLOW_KEYS = ['name', 'run-name', 'env', 'defaults', 'permissions']

/** Keys of a job whose meaning is decided when the runner gets it. */
const DECIDED_KEYS = `needs concurrency environment if name runs-on strategy
  continue-on-error`.split(/\s+/)

/** Condition of a job that a runner gets: the server has decided that the job runs. */
const ALWAYS = `$${'{{ always() }}'}`

/** Writes the payloads of a job, one for each combination of its matrix. */
export type WriteJobPayload = (decided: Decided) => string

/**
 * Returns a function that begins with a job of the workflow, and returns one that writes its
 * payloads as JSON, which is YAML too. Quoted texts mean the same in all versions of YAML: `on`,
 * `1.10` and `0777` stay texts. They throw FileFault if the payloads of the run are too long
 * together.
 */
export function payloadWriter(
  { file }: Workflow,
  event: string,
  charactersMax: number,
): (job: WorkflowJob) => WriteJobPayload {
  const common = pick(file, (key) => WORKFLOW_KEYS.includes(key))
  // The equal parts of the payloads are rendered once: a matrix may repeat them 256 times.
  const head = JSON.stringify({ ...common, on: onOf(file, event) }).slice(0, -1)
  let characters = 0
  return ({ id, value }) => {
    const rest = JSON.stringify(pick(value, (key) => !DECIDED_KEYS.includes(key))).slice(1)
    return (decided) => {
      const fields = JSON.stringify(fieldsOf(decided)).slice(0, -1)
      const payload = `${head},"jobs":{${JSON.stringify(id)}:${fields},${rest}}}`
      characters += payload.length
      if (characters > charactersMax) {
        const message = `the jobs have more than ${charactersMax} characters together`
        throw new FileFault(message, value.position)
      }
      return payload
    }
  }
}

/** Returns the event, with its inputs if it has any, because runners read their types there. */
function onOf(file: YamlValue, event: string): PlainValue {
  if (event !== 'workflow_dispatch' && event !== 'workflow_call') return event
  const fields = file.map()
  const on = fields.get('on') ?? fields.get('true')
  const value = on?.isMap ? on.map().get(event) : undefined
  return value === undefined || value.isNull ? event : { [event]: value.plain() }
}

function fieldsOf(decided: Decided): PlainValue & object {
  const { name, labels, combination, failsFast, maxParallel, continuesOnError } = decided
  return {
    name: escapeExpressions(name),
    'runs-on': labels.map(escapeExpressions),
    if: ALWAYS,
    ...(continuesOnError ? { 'continue-on-error': true } : {}),
    ...(combination === undefined
      ? {}
      : {
          strategy: {
            matrix: Object.fromEntries(
              [...combination].map(([key, value]) => [key, [escapeAll(value)]]),
            ),
            'fail-fast': failsFast,
            ...(maxParallel === undefined ? {} : { 'max-parallel': maxParallel }),
          },
        }),
  }
}

/** Escapes the texts within a value. */
function escapeAll(value: PlainValue): PlainValue {
  if (typeof value === 'string') return escapeExpressions(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(escapeAll)
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, escapeAll(field)]))
}

function pick(value: YamlValue, isPicked: (key: string) => boolean): Record<string, PlainValue> {
  const entries = [...value.map()].filter(([key]) => isPicked(key))
  return Object.fromEntries(entries.map(([key, field]) => [key, field.plain()]))
}
