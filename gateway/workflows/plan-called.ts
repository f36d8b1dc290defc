/** The plan of a called workflow: its jobs, or the fault of the file or of the call. */

import {
  fillInputs,
  InputError,
  type InputTexts,
  type TypedInputs,
  typedInputs,
} from './dispatch-inputs.js'
import type { Contexts } from './expression-values.js'
import { ExpressionFault, newWork } from './expression-work.js'
import { interpolate } from './expressions.js'
import { type PlannedJob, planJobs, type RunLimits } from './plan-jobs.js'
import type { CallSecrets } from './read-call.js'
import { readCallable } from './read-callable.js'
import { readWorkflow } from './read-workflow.js'
import { FileFault } from './yaml-value.js'

export interface CalledInput {
  /** Text of the called file. */
  readonly text: string
  /** Values of `with`. */
  readonly given: InputTexts
  readonly secrets: CallSecrets
  /** Contexts without `inputs`. */
  readonly contexts: Contexts
  readonly limits: RunLimits
}

export type CalledPlan =
  | {
      readonly kind: 'planned'
      readonly jobs: readonly PlannedJob[]
      readonly inputs: TypedInputs
      /** Texts with expressions by the names of the outputs. */
      readonly outputs: Readonly<Record<string, string>>
    }
  /** Line, column and message of the fault. */
  | { readonly kind: 'faulty'; readonly fault: string }
  /** The call does not fit the workflow. */
  | { readonly kind: 'refused'; readonly message: string }

/** Event that the payloads of called workflows name. */
export const CALL_EVENT = 'workflow_call'

/** Plans a called workflow. Never throws for what the file or the call may contain. */
export function planCalled({ text, given, secrets, contexts, limits }: CalledInput): CalledPlan {
  try {
    const workflow = readWorkflow(text)
    const callable = readCallable(workflow.file)
    if (callable === undefined) return refused("the workflow has no 'on: workflow_call'")
    const missing = callable.requiredSecrets.find(
      (name) => secrets !== 'inherit' && secrets[name] === undefined,
    )
    if (missing !== undefined) return refused(`the secret '${missing}' is required`)
    const work = newWork()
    const definitions = callable.inputs.map((input) => ({
      ...input,
      fallback: interpolate(input.fallback, contexts, work),
    }))
    const inputs = typedInputs(definitions, fillInputs(definitions, given))
    const { jobs } = planJobs(workflow, CALL_EVENT, { ...contexts, inputs }, limits)
    return { kind: 'planned', jobs, inputs, outputs: callable.outputs }
  } catch (error) {
    if (error instanceof InputError || error instanceof ExpressionFault) {
      return refused(error.message)
    }
    if (!(error instanceof FileFault)) throw error
    const { line, column } = error.position
    return { kind: 'faulty', fault: `${line}:${column}: ${error.message}` }
  }
}

function refused(message: string): CalledPlan {
  return { kind: 'refused', message }
}
