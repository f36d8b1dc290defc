/** Plans of workflow files for a push to `main`. */

import { type FilePlan, type PlanningFacts, planFile } from '../../gateway/workflows/plan-file.js'
import type { PlannedJob } from '../../gateway/workflows/plan-jobs.js'

const PUSHED = { event: 'push', reference: 'refs/heads/main', changedPaths: undefined } as const

/** Returns the plan of a file. */
export function planOf(text: string, facts: Partial<PlanningFacts> = {}): FilePlan {
  const all = { github: { ref: 'refs/heads/main' }, payload: '{}', vars: {}, ...facts }
  return planFile({ text, occurrence: PUSHED, facts: all })
}

/** Returns the jobs of a file. Throws if the file has a fault, or if a push does not start it. */
export function jobsOf(text: string, facts: Partial<PlanningFacts> = {}): readonly PlannedJob[] {
  const plan = planOf(text, facts)
  if (plan.kind !== 'planned') throw new Error(JSON.stringify(plan))
  return plan.jobs
}

/** Returns the fault of a file, with its place. */
export function faultOf(text: string, facts: Partial<PlanningFacts> = {}): string {
  const plan = planOf(text, facts)
  return plan.kind === 'faulty' ? plan.fault : plan.kind
}
