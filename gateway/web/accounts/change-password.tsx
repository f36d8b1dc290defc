/** Account settings, Password: changes the password; the old one is required. */

import type { JSX } from 'preact/jsx-runtime'
import { Failure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import { changePassword } from '../../actions/accounts/change-password.js'
import { PASSWORD_CHARACTERS_MAX } from '../../auth/password.js'
import { beginSession } from '../../auth/session.js'
import type { Context } from '../../request/context.js'
import { htmlReply } from '../kit/html.js'
import { definePage, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { TextField } from '../kit/text-field.js'
import { AccountDocument } from './account-document.js'

const PATH = '/user/settings/password'

interface PasswordProps {
  readonly context: Context
  readonly user: User
  readonly error?: string
}

const FIELD = {
  type: 'password',
  charactersMax: PASSWORD_CHARACTERS_MAX,
  isRequired: true,
} as const

function Password({ context, user, error }: PasswordProps): JSX.Element {
  return (
    <AccountDocument context={context} user={user} tab="password">
      <section>
        <h2>Password</h2>
        <p class="quiet">
          Changing the password ends all other sessions. Tokens and SSH keys stay valid: revoke
          those that another person may have.
        </p>
        <ErrorMessage error={error} />
        <form method="post" action={context.settings.http.basePath + PATH}>
          <TextField {...FIELD} label="Old password" name="old" autocomplete="current-password" />
          <TextField {...FIELD} label="New password" name="fresh" autocomplete="new-password" />
          <TextField
            {...FIELD}
            label="Repeat the new password"
            name="again"
            autocomplete="new-password"
          />
          <button type="submit">Change password</button>
        </form>
      </section>
    </AccountDocument>
  )
}

const show = definePage<'signed-in'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'signed-in' },
  handle: (context, { request, grant: { user } }) =>
    htmlReply(request, <Password context={context} user={user} />),
})

const save = definePage<'signed-in'>({
  method: 'POST',
  path: PATH,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const form = await readForm(request)
    const fresh = form.get('fresh') ?? ''
    const change = async () => {
      if (form.get('again') !== fresh)
        throw new Failure('invalid', 'The two new passwords differ. Enter the same password twice.')
      const old = form.get('old') ?? ''
      await changePassword(context, { user, old, fresh, address: request.address })
      const session = await beginSession(context, request, user)
      return redirectTo(context, '/user/settings/sessions', [session])
    }
    return withFormErrors(change, ({ message, status }) =>
      htmlReply(request, <Password context={context} user={user} error={message} />, { status }),
    )
  },
})

export const CHANGE_PASSWORD_PAGES = [show, save]
