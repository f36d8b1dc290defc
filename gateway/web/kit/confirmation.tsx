/** Confirmation of an irreversible action: the user types the name of the affected object. */

import type { JSX } from 'preact/jsx-runtime'
import { Failure } from '../../../conf/failures.js'
import { fieldOf } from './page.js'

export interface ConfirmationProps {
  /** Id of the input element; a page may have several. */
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

/** Throws `invalid` unless the field `confirm` equals the name. */
export function refuseUnconfirmed(form: URLSearchParams, name: string): void {
  if (fieldOf(form, 'confirm') === name) return
  throw new Failure('invalid', `Not confirmed, nothing was changed. Type ${name} to confirm.`)
}
