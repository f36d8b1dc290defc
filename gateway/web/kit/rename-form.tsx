/** Form that renames an account or an organization. */

import type { JSX } from 'preact/jsx-runtime'
import { TextField } from './text-field.js'

export interface RenameFormProps {
  readonly address: string
  readonly name: string
}

export function RenameForm({ address, name }: RenameFormProps): JSX.Element {
  return (
    <form method="post" action={address}>
      <h3>Rename</h3>
      <p>Addresses with the earlier name are redirected until another owner takes that name.</p>
      <TextField
        label="New name"
        name="new_name"
        value={name}
        charactersMax={40}
        isRequired={true}
        autocomplete="off"
      />
      <button type="submit" class="danger">
        Rename
      </button>
    </form>
  )
}
