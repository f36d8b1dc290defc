/** Stages of the jobs of a run. */

import type { RunJob } from '../../../sql/runs/run-jobs.js'

/** Groups jobs such that each one needs only jobs of earlier stages. */
export function stagesOf<J extends Pick<RunJob, 'key' | 'needs'>>(
  jobs: readonly J[],
): readonly (readonly J[])[] {
  const needs = new Map(jobs.map((job) => [job.key, job.needs]))
  const stageByKey = new Map<string, number>()
  const stageOf = (key: string): number => {
    const known = stageByKey.get(key)
    if (known !== undefined) return known
    const stage = Math.max(-1, ...(needs.get(key) ?? []).map(stageOf)) + 1
    stageByKey.set(key, stage)
    return stage
  }
  const stages: J[][] = []
  for (const job of jobs) {
    const stage = stageOf(job.key)
    stages[stage] = [...(stages[stage] ?? []), job]
  }
  return stages
}
