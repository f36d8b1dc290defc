/** Account settings, Profile: the user's public details and their visibility. */

import type { JSX } from 'preact/jsx-runtime'
import { updateUser } from '../../../sql/accounts/user-changes.js'
import type { User } from '../../../sql/accounts/users.js'
import type { OwnerDetails } from '../../actions/accounts/owner-details.js'
import type { Context } from '../../request/context.js'
import { DetailFields, detailsAsSent, detailsOf } from '../kit/detail-fields.js'
import { htmlReply } from '../kit/html.js'
import { definePage, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { AccountDocument } from './account-document.js'

const PATH = '/user/settings/profile'

const VISIBILITY_LABELS = {
  public: 'Everyone',
  limited: 'Signed-in users',
  private: 'Only you and administrators',
} as const

interface ProfileProps {
  readonly context: Context
  readonly user: User
  readonly details: OwnerDetails
  readonly error?: string
}

function Profile({ context, user, details, error }: ProfileProps): JSX.Element {
  return (
    <AccountDocument context={context} user={user} tab="profile">
      <section>
        <h2>Profile</h2>
        <ErrorMessage error={error} />
        <form method="post" action={context.settings.http.basePath + PATH}>
          <DetailFields details={details} words={VISIBILITY_LABELS} />
          <button type="submit">Save</button>
        </form>
      </section>
    </AccountDocument>
  )
}

const enter = definePage<'signed-in'>({
  method: 'GET',
  path: '/user/settings',
  access: { kind: 'signed-in' },
  handle: (context) => redirectTo(context, PATH),
})

const show = definePage<'signed-in'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'signed-in' },
  handle: (context, { request, grant: { user } }) =>
    htmlReply(request, <Profile context={context} user={user} details={user} />),
})

const save = definePage<'signed-in'>({
  method: 'POST',
  path: PATH,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const form = await readForm(request)
    const change = async () => {
      await updateUser(context.db, user.id, detailsOf(form))
      return redirectTo(context, PATH)
    }
    return withFormErrors(change, ({ message, status }) => {
      const details = detailsAsSent(form)
      return htmlReply(
        request,
        <Profile context={context} user={user} details={details} error={message} />,
        {
          status,
        },
      )
    })
  },
})

export const PROFILE_PAGES = [enter, show, save]
