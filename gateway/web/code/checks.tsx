/** Statuses of a commit: the latest of each context. */

import type { JSX } from 'preact/jsx-runtime'
import type { CombinedStatus } from '../../../sql/code/commit-statuses.js'
import { Shown } from '../../rendering/visible-text.js'

/** Maximum number of statuses on a page. */
export const CHECKS_SHOWN = 50

/** Renders the statuses; null if there are none. */
export function Checks({ combined }: { readonly combined: CombinedStatus }): JSX.Element | null {
  const { entries, total } = combined
  if (total === 0) return null
  return (
    <section>
      <h3>Checks</h3>
      <ul class="list">
        {entries.map(({ state, context, description, targetUrl }) => (
          <li>
            <span class={`label ${state}`}>{state}</span>
            <span class="grow">
              {/^https?:/i.test(targetUrl) ? (
                <a class="strong" href={targetUrl} rel="nofollow noopener">
                  <Shown text={context} />
                </a>
              ) : (
                <strong>
                  <Shown text={context} />
                </strong>
              )}{' '}
              <Shown text={description} />
            </span>
          </li>
        ))}
      </ul>
      {total > entries.length && (
        <p class="notice">{`Only the newest ${entries.length} of ${total} are shown.`}</p>
      )}
    </section>
  )
}
