/** Attempts of a run: the one that a page shows, and links to the others. */

import type { JSX } from 'preact/jsx-runtime'
import { notFound } from '../../../conf/failures.js'
import type { Request } from '../../../conf/http.js'
import type { Run } from '../../../sql/runs/runs.js'
import { readId } from '../../auth/refusals.js'

/**
 * Returns the number of the attempt that `?attempt` names; undefined for the newest one. Throws
 * `not_found` if the run has no such attempt.
 */
export function earlierAttempt(
  { query }: Pick<Request, 'query'>,
  run: Pick<Run, 'attempt'>,
): number | undefined {
  const text = new URLSearchParams(query).get('attempt')
  if (text === null) return undefined
  const attempt = readId(text) ?? 0
  if (attempt < 1 || attempt > run.attempt) throw notFound()
  return attempt === run.attempt ? undefined : attempt
}

/** Returns the query of the pages of an attempt; empty for the newest one. */
export function attemptQuery(attempt: number | undefined): string {
  return attempt === undefined ? '' : `?attempt=${attempt}`
}

export interface AttemptLinksProps {
  /** URL of the page. */
  readonly address: string
  readonly run: Run
  /** The attempt that the page shows; undefined for the newest one. */
  readonly shown: number | undefined
}

/** Renders links to the attempts; null if there is only one. */
export function AttemptLinks({ address, run, shown }: AttemptLinksProps): JSX.Element | null {
  if (run.attempt === 1) return null
  const attempts = Array.from({ length: run.attempt }, (_, at) => at + 1)
  return (
    <nav class="pager" aria-label="Attempts">
      <span>Attempts:</span>
      {attempts.map((attempt) => (
        <a
          href={`${address}${attempt === run.attempt ? '' : attemptQuery(attempt)}`}
          aria-current={attempt === (shown ?? run.attempt) ? 'page' : undefined}
        >
          {attempt}
        </a>
      ))}
    </nav>
  )
}
