/** What cannot be taken back is asked for by typing the name of what it ends. */

import type { JSX } from 'preact/jsx-runtime'
import { Failure } from '../../../conf/failures.js'
import { fieldOf } from './page.js'

export interface ConfirmationProps {
  /** Of the field, where a page has several. */
  readonly id: string
  readonly name: string
}

export function Confirmation({ id, name }: ConfirmationProps): JSX.Element {
  return (
    <>
      <label for={id}>{`Type ${name} to confirm`}</label>
      <input type="text" id={id} name="confirm" required={true} autocomplete="off" />
    </>
  )
}

/** Throws `invalid` unless the form has that name. */
export function refuseUnconfirmed(form: URLSearchParams, name: string): void {
  if (fieldOf(form, 'confirm') === name) return
  throw new Failure('invalid', `Nothing was done. Type ${name} to confirm.`)
}
