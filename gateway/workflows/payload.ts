/** The workflow that a runner gets: the file with one job, in which all decisions are made. */

import type { Workflow, WorkflowJob } from './read-workflow.js'
import { FileFault, type PlainValue, type YamlValue } from './yaml-value.js'

/** Keys of a workflow that the runner evaluates. */
const WORKFLOW_KEYS = ['name', 'run-name', 'env', 'defaults', 'permissions']

/** Keys of a job whose meaning is decided when the runner gets it. */
const DECIDED_KEYS = ['needs', 'concurrency', 'environment', 'if', 'name', 'runs-on']

/** Keys of a job that this server does not support yet. */
const UNSUPPORTED_KEYS = ['strategy', 'uses']

/** Condition of a job that a runner gets: the server has decided that the job runs. */
const ALWAYS = `$${'{{ always() }}'}`

/** Maximum number of characters of all payloads of a run. */
const PAYLOADS_CHARACTERS_MAX = 8_388_608

/**
 * Returns the payload of each job for an event, as JSON, which is YAML too. Quoted texts mean the
 * same in all versions of YAML: `on`, `1.10` and `0777` stay texts. Throws FileFault if a job has a
 * part that is not supported, or if the payloads are too long together.
 */
export function payloadsOf({ file, jobs }: Workflow, event: string): ReadonlyMap<string, string> {
  const common = pick(file, (key) => WORKFLOW_KEYS.includes(key))
  const on = onOf(file, event)
  const payloads = new Map<string, string>()
  let characters = 0
  for (const job of jobs) {
    const payload = JSON.stringify({ ...common, on, jobs: { [job.id]: decided(job) } })
    characters += payload.length
    if (characters > PAYLOADS_CHARACTERS_MAX) {
      const message = `the jobs have more than ${PAYLOADS_CHARACTERS_MAX} characters together`
      throw new FileFault(message, job.value.position)
    }
    payloads.set(job.id, payload)
  }
  return payloads
}

/** Returns the event, for a dispatch with its inputs, because runners read their types there. */
function onOf(file: YamlValue, event: string): PlainValue {
  if (event !== 'workflow_dispatch') return event
  const fields = file.map()
  const on = fields.get('on') ?? fields.get('true')
  const value = on?.isMap ? on.map().get(event) : undefined
  return value === undefined || value.isNull ? event : { [event]: value.plain() }
}

function decided({ value, name, labels }: WorkflowJob): PlainValue {
  const fields = value.map()
  for (const key of UNSUPPORTED_KEYS) fields.get(key)?.fail('is not supported by this server yet')
  const rest = pick(value, (key) => !DECIDED_KEYS.includes(key))
  return { name, 'runs-on': labels, if: ALWAYS, ...rest }
}

function pick(value: YamlValue, isPicked: (key: string) => boolean): Record<string, PlainValue> {
  const entries = [...value.map()].filter(([key]) => isPicked(key))
  return Object.fromEntries(entries.map(([key, field]) => [key, field.plain()]))
}
