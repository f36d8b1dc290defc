/** Single-line text field of a form with its label. */

import type { JSX } from 'preact/jsx-runtime'

export interface TextFieldProps {
  readonly label: string
  readonly name: string
  /** Id of the input element; the name by default. */
  readonly id?: string
  readonly type?: 'text' | 'password'
  readonly value?: string
  readonly charactersMax: number
  readonly isRequired?: boolean
  readonly autocomplete?: string
}

export function TextField(props: TextFieldProps): JSX.Element {
  const { label, name, id = name, type = 'text', value = '', autocomplete } = props
  return (
    <>
      <label for={id}>{label}</label>
      <input
        type={type}
        id={id}
        name={name}
        value={value}
        required={props.isRequired === true}
        maxlength={props.charactersMax}
        {...(autocomplete && { autocomplete })}
      />
    </>
  )
}
