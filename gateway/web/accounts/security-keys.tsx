/** Section of the page Security for the account's security keys. */

import type { JSX } from 'preact/jsx-runtime'
import type { SecurityKey } from '../../../sql/accounts/security-keys.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { Icon } from '../kit/icon.js'
import { Ago } from '../kit/times.js'
import { KeyCeremony } from './key-ceremony.js'
import { ProofForm } from './security-parts.js'

/** Security key that is being registered: its name and the WebAuthn creation options. */
export interface KeyRegistration {
  readonly name: string
  readonly options: object
}

interface SecurityKeysProps {
  readonly context: Context
  /** URL of the page. */
  readonly address: string
  readonly keys: readonly SecurityKey[]
  readonly keyToAdd: KeyRegistration | undefined
}

/** Renders the list of keys and the forms that add and remove one. */
export function SecurityKeys(props: SecurityKeysProps): JSX.Element {
  const { context, address, keys, keyToAdd } = props
  return (
    <section>
      <h2>Security keys</h2>
      <p class="quiet">
        You can sign in with a security key, plugged in or held to the device, instead of a code.
        The app and the recovery codes still work.
      </p>
      {keys.length > 0 && (
        <ul class="list">
          {keys.map((key) => (
            <KeyLine key={key.id} entry={key} />
          ))}
        </ul>
      )}
      <h3>Add a key</h3>
      {keyToAdd === undefined ? (
        <ProofForm action={`${address}/keys`} id="add-key" button="Add a key" hasFactor={true}>
          <label for="key-name">Name of the key</label>
          <input type="text" id="key-name" name="name" required={true} maxlength={100} />
        </ProofForm>
      ) : (
        <KeyCeremony
          context={context}
          kind="create"
          options={keyToAdd.options}
          button="Register the key"
          action={`${address}/keys/confirm`}
        >
          <input type="hidden" name="name" value={keyToAdd.name} />
          <p>
            Plug the key in, and touch it when it blinks. It will be added as{' '}
            <strong>
              <Shown text={keyToAdd.name} />
            </strong>
            .
          </p>
        </KeyCeremony>
      )}
      {keys.length > 0 && <RemoveForm address={address} keys={keys} />}
    </section>
  )
}

function KeyLine({ entry }: { readonly entry: SecurityKey }): JSX.Element {
  return (
    <li>
      <Icon name="key" />
      <div class="grow">
        <strong>
          <Shown text={entry.name} />
        </strong>
        <p class="quiet">
          {'added '}
          <Ago atMs={entry.createdAtMs} />
          {entry.lastUsedAtMs === undefined ? ' · not used yet' : ' · last used '}
          {entry.lastUsedAtMs !== undefined && <Ago atMs={entry.lastUsedAtMs} />}
        </p>
      </div>
    </li>
  )
}

function RemoveForm({ address, keys }: Pick<SecurityKeysProps, 'address' | 'keys'>): JSX.Element {
  return (
    <>
      <h3>Remove a key</h3>
      <ProofForm
        action={`${address}/keys/delete`}
        id="remove-key"
        button="Remove the key"
        hasFactor={true}
        isDanger={true}
      >
        <label for="key-id">Key</label>
        <select id="key-id" name="id" required={true}>
          {keys.map(({ id, name }) => (
            <option value={String(id)}>
              <Shown text={name} />
            </option>
          ))}
        </select>
      </ProofForm>
    </>
  )
}
