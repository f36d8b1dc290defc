/** Stages of the jobs of a run. */

import { parentKeyOf } from '../../../conf/job-keys.js'
import type { RunJob } from '../../../sql/runs/run-jobs.js'

/**
 * Groups jobs such that each one needs only jobs of earlier stages, and is not before the job that
 * has become it.
 */
export function stagesOf<J extends Pick<RunJob, 'key' | 'needs'>>(
  jobs: readonly J[],
): readonly (readonly J[])[] {
  const needs = new Map(jobs.map((job) => [job.key, job.needs]))
  const stageByKey = new Map<string, number>()
  const stageOf = (key: string): number => {
    const known = stageByKey.get(key)
    if (known !== undefined) return known
    const parent = parentKeyOf(key)
    const first = parent === undefined ? 0 : stageOf(parent)
    const stage = Math.max(first, ...(needs.get(key) ?? []).map((need) => stageOf(need) + 1))
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
