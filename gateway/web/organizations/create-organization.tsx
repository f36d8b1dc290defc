/** Page with the form for a new organization. */

import type { JSX } from 'preact/jsx-runtime'
import { OWNER_CHARACTERS_MAX } from '../../../conf/names.js'
import type { User } from '../../../sql/accounts/users.js'
import { openOrganization } from '../../actions/organizations/open-organization.js'
import type { Context } from '../../request/context.js'
import { DetailFields, detailsAsSent, detailsOf } from '../kit/detail-fields.js'
import { Document } from '../kit/document.js'
import { htmlReply } from '../kit/html.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { TextField } from '../kit/text-field.js'
import { VISIBILITY_LABELS } from './organization-document.js'

const PATH = '/org/create'

interface NewOrganizationProps {
  readonly context: Context
  readonly user: User
  readonly form?: URLSearchParams
  readonly error?: string
}

function NewOrganization({ context, user, form, error }: NewOrganizationProps): JSX.Element {
  const sent = form ?? new URLSearchParams()
  return (
    <Document context={context} title="New organization" user={user}>
      <section class="narrow">
        <h1>New organization</h1>
        <ErrorMessage error={error} />
        <form method="post" action={context.settings.http.basePath + PATH}>
          <TextField
            label="Name"
            name="name"
            value={fieldOf(sent, 'name')}
            isRequired={true}
            charactersMax={OWNER_CHARACTERS_MAX}
          />
          <DetailFields details={detailsAsSent(sent)} words={VISIBILITY_LABELS} />
          <button type="submit">Create</button>
        </form>
      </section>
    </Document>
  )
}

const show = definePage<'signed-in'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'signed-in' },
  handle: (context, { request, grant: { user } }) =>
    htmlReply(request, <NewOrganization context={context} user={user} />),
})

const create = definePage<'signed-in'>({
  method: 'POST',
  path: PATH,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const form = await readForm(request)
    const make = async () => {
      const { name } = await openOrganization(context.db, {
        name: fieldOf(form, 'name'),
        ...detailsOf(form),
        creatorId: user.id,
        email: '',
        repoAdminChangeTeamAccess: false,
      })
      return redirectTo(context, `/${name}`)
    }
    return withFormErrors(make, ({ message, status }) => {
      const again = <NewOrganization context={context} user={user} form={form} error={message} />
      return htmlReply(request, again, { status })
    })
  },
})

export const CREATE_ORGANIZATION_PAGES = [show, create]
