/** The plan of a workflow file for an event: the jobs that it starts, or its fault. */

import {
  type DispatchInput,
  fillInputs,
  InputError,
  type InputTexts,
  typedInputs,
} from './dispatch-inputs.js'
import type { ContextValue } from './expression-values.js'
import { type PlannedJob, planJobs } from './plan-jobs.js'
import type { PlannedGroup } from './read-concurrency.js'
import { readWorkflow } from './read-workflow.js'
import { type Occurrence, startsOn, startsWithoutFilters } from './triggers.js'
import { FileFault } from './yaml-value.js'

export type FilePlan =
  | {
      /** The event does not start the workflow. */
      readonly kind: 'ignored'
      /** Value of `name`; undefined if the file has none. */
      readonly name: string | undefined
      /** True if only filters of branches, tags or paths exclude the event. */
      readonly isFiltered: boolean
      /** Cron expressions of the file. */
      readonly crons: readonly string[]
    }
  | {
      readonly kind: 'planned'
      /** Value of `name`; undefined if the file has none. */
      readonly name: string | undefined
      readonly jobs: readonly PlannedJob[]
      /** Concurrency group of the run; undefined if the file names none. */
      readonly concurrency: PlannedGroup | undefined
      readonly dispatchInputs: readonly DispatchInput[]
      /** Values of the inputs as texts, and as expressions see them; empty for other events. */
      readonly inputs: InputTexts
      readonly typedInputs: Readonly<Record<string, ContextValue>>
    }
  /** The values of a dispatch do not fit its inputs. */
  | {
      readonly kind: 'refused'
      readonly name: string | undefined
      readonly message: string
      readonly dispatchInputs: readonly DispatchInput[]
    }
  | {
      readonly kind: 'faulty'
      /** Line, column and message of the fault. */
      readonly fault: string
      /** True if the event starts the workflow; false if that is not known. */
      readonly isStarted: boolean
    }

/** A workflow file, and what may start it. */
export interface FileInput {
  readonly text: string
  readonly occurrence: Occurrence
  /** True to plan the jobs also if filters exclude the event. */
  readonly ignoresFilters?: boolean
  /** Facts for the expressions; if there are none, the jobs are not planned. */
  readonly facts?: PlanningFacts | undefined
}

/** Facts that the expressions of a file may read when a run starts. */
export interface PlanningFacts {
  /** Values of `github` that are known before the run exists, without `event`. */
  readonly github: Readonly<Record<string, ContextValue>>
  /** Payload of the event as JSON, which is parsed only if the event starts the workflow. */
  readonly payload: string
  readonly vars: Readonly<Record<string, string>>
}

/** Plans a workflow file. Never throws for what a file may contain. */
export function planFile({ text, occurrence, ignoresFilters, facts }: FileInput): FilePlan {
  let isStarted = false
  try {
    const workflow = readWorkflow(text)
    const { name, triggers, dispatchInputs = [] } = workflow
    isStarted = startsOn(triggers, occurrence)
    const isFiltered = !isStarted && startsWithoutFilters(triggers, occurrence)
    if (!isStarted && !(isFiltered && ignoresFilters === true)) {
      const crons = triggers.flatMap((trigger) => trigger.crons)
      return { kind: 'ignored', name, isFiltered, crons }
    }
    const isDispatch = occurrence.event === 'workflow_dispatch'
    const inputs = isDispatch ? filledInputs(dispatchInputs, occurrence.inputs) : {}
    if (inputs instanceof InputError) {
      return { kind: 'refused', name, message: inputs.message, dispatchInputs }
    }
    const typed = isDispatch ? typedInputs(dispatchInputs, inputs) : {}
    const planned =
      facts === undefined
        ? { jobs: [], concurrency: undefined }
        : planJobs(workflow, occurrence.event, {
            github: githubOf(facts, { name, inputs: isDispatch ? inputs : undefined }),
            vars: facts.vars,
            inputs: typed,
          })
    return { kind: 'planned', name, ...planned, dispatchInputs, inputs, typedInputs: typed }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const { line, column } = error.position
    return { kind: 'faulty', fault: `${line}:${column}: ${error.message}`, isStarted }
  }
}

interface Started {
  readonly name: string | undefined
  /** Undefined unless a dispatch has started the workflow. */
  readonly inputs: InputTexts | undefined
}

function githubOf({ github, payload }: PlanningFacts, { name, inputs }: Started): ContextValue {
  const event = JSON.parse(payload)
  return {
    ...github,
    ...(name === undefined ? {} : { workflow: name }),
    event: inputs === undefined ? event : { ...event, inputs },
  }
}

function filledInputs(
  inputs: readonly DispatchInput[],
  given: InputTexts,
): InputTexts | InputError {
  try {
    return fillInputs(inputs, given)
  } catch (error) {
    if (error instanceof InputError) return error
    throw error
  }
}
