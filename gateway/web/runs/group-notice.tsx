/** Notice that a run or job waits for its concurrency group. */

import type { JSX } from 'preact/jsx-runtime'
import type { RunJob } from '../../../sql/runs/run-jobs.js'
import { Shown } from '../../rendering/visible-text.js'

/** Renders the notice; null if the run or job does not wait for a group. */
export function GroupNotice({
  of: { status, membership },
}: {
  readonly of: Pick<RunJob, 'status' | 'membership'>
}): JSX.Element | null {
  if (status !== 'blocked' || membership?.state !== 'entered') return null
  return (
    <p class="quiet">
      {"Waits for the concurrency group '"}
      <Shown text={membership.group} />
      {"'."}
    </p>
  )
}
