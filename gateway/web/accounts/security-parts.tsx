/** Sections of the page Security: enrolling, renewing and disabling the second factor. */

import type { Child, JSX } from 'preact/jsx-runtime'
import { Ago } from '../kit/times.js'
import { QrCode } from './qr-code.js'

/** Renders one-time recovery codes, for users who lost their authenticator app. */
export function RecoveryCodes({ codes }: { readonly codes: readonly string[] }): JSX.Element {
  return (
    <div class="notice" role="status">
      <p>
        Store these recovery codes separately from your phone. Each can be used once instead of a
        code from the app. They are not shown again.
      </p>
      <pre id="recovery-codes">{codes.join('\n')}</pre>
    </div>
  )
}

interface WaitingProps {
  readonly address: string
  readonly secret: string
  readonly uri: string
}

/** Renders a new secret for the authenticator app and the form for its first code. */
export function Waiting({ address, secret, uri }: WaitingProps): JSX.Element {
  return (
    <>
      <h3>Add the secret to your app</h3>
      <p>
        Scan the QR code, <a href={uri}>open it on this device</a>, or enter the secret.
      </p>
      <QrCode text={uri} label="QR code for your app" />
      <label for="secret">Secret</label>
      <input type="text" id="secret" class="code" readonly={true} value={secret} />
      <form method="post" action={`${address}/confirm`}>
        <label for="code">Code that the app shows</label>
        <input
          type="text"
          id="code"
          name="code"
          autocomplete="one-time-code"
          inputmode="numeric"
          required={true}
          maxlength={16}
        />
        <p class="quiet">This ends all your other sessions.</p>
        <button type="submit">Switch on</button>
      </form>
    </>
  )
}

interface EnrolledProps {
  readonly address: string
  readonly sinceMs: number
  readonly left: number
}

/** Renders the state of an enabled second factor and the forms to renew codes and disable it. */
export function Enrolled({ address, sinceMs, left }: EnrolledProps): JSX.Element {
  return (
    <>
      <p>
        It was enabled <Ago atMs={sinceMs} />. {left} recovery{' '}
        {left === 1 ? 'code is' : 'codes are'} left.
      </p>
      <h3>New recovery codes</h3>
      <ProofForm
        action={`${address}/recovery-codes`}
        id="renew"
        button="Create new recovery codes"
        hasFactor={true}
      />
      <h3>Switch off</h3>
      <ProofForm
        action={`${address}/disable`}
        id="disable"
        button="Switch off"
        hasFactor={true}
        isDanger={true}
      />
    </>
  )
}

interface ProofFormProps {
  readonly action: string
  readonly id: string
  readonly button: string
  readonly hasFactor?: boolean
  readonly isDanger?: boolean
  /** Further fields of the form. */
  readonly children?: Child
}

/** Renders a form with one button that requires the password or a code. */
export function ProofForm({
  action,
  id,
  button,
  hasFactor,
  isDanger,
  children,
}: ProofFormProps): JSX.Element {
  return (
    <form method="post" action={action}>
      {children}
      <label for={id}>
        {hasFactor ? 'Your password, or a code from the app' : 'Your password'}
      </label>
      <input type="password" id={id} name="proof" required={true} autocomplete="current-password" />
      <button type="submit" class={isDanger ? 'danger' : ''}>
        {button}
      </button>
    </form>
  )
}
