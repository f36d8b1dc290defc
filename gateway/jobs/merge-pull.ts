/** Job that merges a pull request when its checks have succeeded; its subject is the pull's id. */

import type { JobKind } from './job.js'

export const MERGE_PULL = 'merge-pull'

/** Returns the kind of job that calls `merge`, which also checks if it may be merged now. */
export function mergePullWith(merge: (pullId: number) => Promise<void>): JobKind {
  return { kind: MERGE_PULL, storesData: true, run: (_, subject) => merge(Number(subject)) }
}
