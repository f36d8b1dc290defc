/** Steps that know each other's results: those of a job, or of a composite action. */

import type { Contexts, ContextValue } from '../workflows/expression-values.js'
import { interpolate, type Outcome } from '../workflows/expressions.js'
import type { RunDefaults } from './job-file.js'
import type { JobState } from './job-state.js'
import type { Texts } from './step-file.js'
import type { TimeLimit } from './time-limit.js'

/** Result of a step, in the words of the context `steps`. */
export type StepResult = 'success' | 'failure' | 'cancelled' | 'skipped'

/** Entry of a step in the context `steps`. */
interface StepEntry {
  readonly outcome: StepResult
  readonly conclusion: StepResult
  readonly outputs: Texts
}

/** Properties of a scope. */
export interface ScopeOptions {
  /** Contexts other than `env`, `job` and `steps`. */
  readonly contexts: Contexts
  readonly defaults: RunDefaults
  /** Variables of the steps, over those of the job. */
  readonly env: Texts
  /** Variables that neither the job nor its steps can replace. */
  readonly variables: Texts
  /** Number of actions that contain the steps. */
  readonly depth: number
  /** Limit of the step that uses the action. */
  readonly limit?: TimeLimit
}

/** The results and contexts of such steps. */
export class StepScope {
  hasFailed = false
  readonly job: JobState
  readonly options: ScopeOptions
  readonly #steps: Record<string, ContextValue> = {}

  constructor(job: JobState, options: ScopeOptions) {
    this.job = job
    this.options = options
  }

  get outcome(): Outcome {
    const { isCancelled } = this.job.input.cancellation
    const { hasFailed } = this
    return { isCancelled, hasFailed, hasSucceeded: !isCancelled && !hasFailed }
  }

  /** Returns the contexts for a step with the given variables. */
  contexts(env: Texts = this.options.env): Contexts {
    const { isCancelled, hasFailed } = this.outcome
    const status = isCancelled ? 'cancelled' : hasFailed ? 'failure' : 'success'
    const variables = { ...this.job.env, ...env }
    const job = { status, ...this.job.containers?.context }
    return { ...this.options.contexts, env: variables, job, steps: this.#steps }
  }

  /** Returns texts with the values of their expressions. Throws ExpressionFault. */
  evaluateAll(texts: Texts, contexts: Contexts = this.contexts()): Texts {
    const values = Object.entries(texts).map(([name, text]) => [name, interpolate(text, contexts)])
    return Object.fromEntries(values)
  }

  /** Notes the result of a step with an id, for the context `steps`. */
  noteStep(id: string, step: StepEntry): void {
    this.#steps[id] = { ...step }
  }
}
