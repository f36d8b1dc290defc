/** What cannot be taken back, asked for by typing the full name of the repository. */

import type { JSX } from 'preact/jsx-runtime'
import { Failure } from '../../conf/failures.js'
import type { Repository } from '../../sql/repositories.js'
import { fieldOf } from './page.js'

export interface DangerZoneProps {
  /** Of the settings. */
  readonly address: string
  readonly repository: Repository
}

/** The forms for a new owner, and for the end. */
export function DangerZone({ address, repository }: DangerZoneProps): JSX.Element {
  const fullName = fullNameOf(repository)
  return (
    <section class="danger-zone">
      <h2>Danger zone</h2>
      <h3>Transfer</h3>
      <p>Another user or an organization owns it then; its old address leads to the new one.</p>
      <form method="post" action={`${address}/transfer`}>
        <label for="new_owner">New owner</label>
        <input {...{ type: 'text', id: 'new_owner', name: 'new_owner', required: true }} />
        <Confirmation id="confirm-transfer" fullName={fullName} />
        <button type="submit" class="danger">
          Transfer this repository
        </button>
      </form>
      <h3>Delete</h3>
      <p>Its code, issues, pull requests and releases are lost for good.</p>
      <form method="post" action={`${address}/delete`}>
        <Confirmation id="confirm-delete" fullName={fullName} />
        <button type="submit" class="danger">
          Delete this repository
        </button>
      </form>
    </section>
  )
}

function Confirmation({ id, fullName }: { readonly id: string; readonly fullName: string }) {
  return (
    <>
      <label for={id}>{`Type ${fullName} to confirm`}</label>
      <input {...{ type: 'text', id, name: 'confirm', required: true, autocomplete: 'off' }} />
    </>
  )
}

/** Throws `invalid` unless the form has the full name of the repository. */
export function refuseUnconfirmed(form: URLSearchParams, repository: Repository): void {
  const fullName = fullNameOf(repository)
  if (fieldOf(form, 'confirm') === fullName) return
  throw new Failure('invalid', `Nothing was done. Type ${fullName} to confirm.`)
}

function fullNameOf({ owner, name }: Repository): string {
  return `${owner.name}/${name}`
}
