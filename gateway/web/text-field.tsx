/** A line of text in a form, below its label. */

import type { JSX } from 'preact/jsx-runtime'

export interface TextFieldProps {
  readonly label: string
  /** Of the field, and its id. */
  readonly name: string
  readonly type?: 'text' | 'password'
  readonly value?: string
  readonly charactersMax: number
  readonly isRequired?: boolean
  readonly autocomplete?: string
}

export function TextField(props: TextFieldProps): JSX.Element {
  const { label, name, type = 'text', value = '', isRequired = false, autocomplete } = props
  return (
    <>
      <label for={name}>{label}</label>
      <input
        {...{ type, id: name, name, value, required: isRequired }}
        {...{ maxlength: props.charactersMax, ...(autocomplete && { autocomplete }) }}
      />
    </>
  )
}
