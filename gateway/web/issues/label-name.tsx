/** Label with a dot of its color. */

import type { JSX } from 'preact/jsx-runtime'
import type { Label } from '../../../sql/issues/labels.js'
import { Shown } from '../../rendering/visible-text.js'

export function LabelName({ label }: { readonly label: Label }): JSX.Element {
  return (
    <span class="label" {...(label.description === '' ? {} : { title: label.description })}>
      <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
        <circle cx="5" cy="5" r="5" fill={`#${label.color}`} />
      </svg>{' '}
      <Shown text={label.name} />
    </span>
  )
}
