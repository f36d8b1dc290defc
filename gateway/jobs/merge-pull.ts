/** The job that merges a pull when its checks have succeeded; its subject is the id of the pull. */

import type { JobKind } from './job.js'

export const MERGE_PULL = 'merge-pull'

/** `merge` does it, or finds that it is not to be done, or not yet. */
export function mergePullWith(merge: (pullId: number) => Promise<void>): JobKind {
  return { kind: MERGE_PULL, storesData: true, run: (_, subject) => merge(Number(subject)) }
}
