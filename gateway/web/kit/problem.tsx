/** Error message above a form that is shown again. */

import type { JSX } from 'preact/jsx-runtime'
import { Shown } from '../../rendering/visible-text.js'

/** Renders the message; null if there is none. */
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
