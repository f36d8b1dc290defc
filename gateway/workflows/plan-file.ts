/** The plan of a workflow file for an event: the jobs that it starts, or its fault. */

import type { JobPermissions } from '../../conf/job-permissions.js'
import {
  type DispatchInput,
  fillInputs,
  InputError,
  type InputTexts,
  typedInputs,
} from './dispatch-inputs.js'
import type { ContextValue } from './expression-values.js'
import { payloadsOf } from './payload.js'
import { readWorkflow, type Workflow } from './read-workflow.js'
import { type Occurrence, startsOn } from './triggers.js'
import { FileFault } from './yaml-value.js'

export interface PlannedJob {
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
  /** Workflow with this one job, for the runner. */
  readonly payload: string
}

export type FilePlan =
  | {
      /** The event does not start the workflow. */
      readonly kind: 'ignored'
      /** Value of `name`; undefined if the file has none. */
      readonly name: string | undefined
    }
  | {
      readonly kind: 'planned'
      /** Value of `name`; undefined if the file has none. */
      readonly name: string | undefined
      readonly jobs: readonly PlannedJob[]
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
}

/** Plans a workflow file. Never throws for what a file may contain. */
export function planFile({ text, occurrence }: FileInput): FilePlan {
  let isStarted = false
  try {
    const workflow = readWorkflow(text)
    isStarted = startsOn(workflow.triggers, occurrence)
    if (!isStarted) return { kind: 'ignored', name: workflow.name }
    const dispatchInputs = workflow.dispatchInputs ?? []
    const isDispatch = occurrence.event === 'workflow_dispatch'
    const inputs = isDispatch ? filledInputs(dispatchInputs, occurrence.inputs) : {}
    if (inputs instanceof InputError) {
      return { kind: 'refused', name: workflow.name, message: inputs.message, dispatchInputs }
    }
    return {
      kind: 'planned',
      name: workflow.name,
      jobs: plannedJobs(workflow, occurrence),
      dispatchInputs,
      inputs,
      typedInputs: isDispatch ? typedInputs(dispatchInputs, inputs) : {},
    }
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const { line, column } = error.position
    return { kind: 'faulty', fault: `${line}:${column}: ${error.message}`, isStarted }
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

function plannedJobs(workflow: Workflow, { event }: Occurrence): readonly PlannedJob[] {
  const payloads = payloadsOf(workflow, event)
  return workflow.jobs.map(({ id, value: _, ...job }) => ({
    key: id,
    ...job,
    failsFast: true,
    maxParallel: undefined,
    continuesOnError: false,
    payload: payloads.get(id) ?? '',
  }))
}
