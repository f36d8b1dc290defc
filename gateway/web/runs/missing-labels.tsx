/** Notice about waiting jobs whose labels no runner has. */

import type { JSX } from 'preact/jsx-runtime'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { listRunners } from '../../../sql/runners/runners.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { fitsJob, offerOf } from '../../runs/claim-job.js'

/** Maximum number of label lists in a notice. */
const LISTS_MAX = 10

/** Returns those of the label lists of waiting jobs of a repository that no runner of it has. */
export async function findMissingLabels(
  { db }: Pick<Context, 'db'>,
  { id, owner }: Pick<Repository, 'id' | 'owner'>,
  waiting: readonly (readonly string[])[],
): Promise<readonly string[]> {
  if (waiting.length === 0) return []
  const runners = (await listRunners(db)).filter(({ isDisabled }) => !isDisabled)
  const offers = runners.map(offerOf)
  const lists = new Map(waiting.map((labels) => [labels.join(', '), labels]))
  return [...lists.entries()]
    .filter(([, labels]) => {
      const job = { repositoryId: id, ownerId: owner.id, labels, isUntrusted: false }
      return !offers.some((offer) => fitsJob(offer, job))
    })
    .map(([text]) => text)
}

/** Renders the notice; null if runners have all labels. */
export function MissingLabels({
  lists,
}: {
  readonly lists: readonly string[]
}): JSX.Element | null {
  if (lists.length === 0) return null
  const more = lists.length - LISTS_MAX
  return (
    <p class="notice">
      {'Jobs wait because no runner has all of their labels: '}
      {lists.slice(0, LISTS_MAX).map((text, at) => (
        <>
          {at > 0 && '; '}
          <code>
            <Shown text={text} />
          </code>
        </>
      ))}
      {more > 0 && `; and ${more} more`}.
    </p>
  )
}
