/** Form for a new account, used for sign-up and by administrators. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { AccountInput } from '../../actions/accounts/make-account.js'
import { PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN } from '../../auth/password.js'
import { fieldOf } from '../kit/page.js'

export interface AccountFormProps {
  /** URL that the form is sent to. */
  readonly address: string
  /** Form as sent before, to be corrected. */
  readonly form?: URLSearchParams | undefined
  readonly button: string
  /** Further fields. */
  readonly children?: Child
}

export function AccountForm({ address, form, button, children }: AccountFormProps): JSX.Element {
  const sent = form ?? new URLSearchParams()
  const length = { minlength: PASSWORD_CHARACTERS_MIN, maxlength: PASSWORD_CHARACTERS_MAX }
  return (
    <form method="post" action={address}>
      <label for="name">Name</label>
      <input
        type="text"
        id="name"
        name="user_name"
        autocomplete="username"
        value={fieldOf(sent, 'user_name')}
        required={true}
        maxlength={40}
      />
      <label for="email">E-mail address</label>
      <input
        type="email"
        id="email"
        name="email"
        autocomplete="email"
        value={fieldOf(sent, 'email')}
        required={true}
        maxlength={254}
      />
      <label for="password">{`Password (at least ${PASSWORD_CHARACTERS_MIN} characters)`}</label>
      <input
        type="password"
        id="password"
        name="password"
        required={true}
        {...length}
        autocomplete="new-password"
      />
      {children}
      <button type="submit">{button}</button>
    </form>
  )
}

/** Reads the account from a form. */
export function accountInputOf(form: URLSearchParams): Omit<AccountInput, 'isAdmin'> {
  return {
    name: fieldOf(form, 'user_name'),
    email: fieldOf(form, 'email'),
    password: form.get('password') ?? '',
  }
}
