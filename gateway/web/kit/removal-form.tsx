/** Button that removes an entry of a list. */

import type { JSX } from 'preact/jsx-runtime'

export interface RemovalFormProps {
  /** URL that the form is sent to, with the id in the field `id`. */
  readonly address: string
  readonly id: number
  readonly word?: string
  /** Name of the button for screen readers, which names the entry. */
  readonly label: string
}

export function RemovalForm(props: RemovalFormProps): JSX.Element {
  const { address, id, word = 'Remove', label } = props
  return (
    <form method="post" action={address}>
      <input type="hidden" name="id" value={String(id)} />
      <button type="submit" class="danger" aria-label={label}>
        {word}
      </button>
    </form>
  )
}
