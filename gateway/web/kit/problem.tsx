/** What was wrong with what a form sent; the form is shown again below it. */

import type { JSX } from 'preact/jsx-runtime'
import { Shown } from '../../rendering/visible-text.js'

/** Nothing where nothing was wrong. */
export function ErrorMessage({
  error,
}: {
  readonly error: string | undefined
}): JSX.Element | null {
  if (error === undefined) return null
  return (
    <p class="error" role="alert">
      <Shown text={error} />
    </p>
  )
}
