/** Settings of an organization: details, visibility, name and deletion. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import { deleteOrganization, updateOrganization } from '../../../sql/organizations/organizations.js'
import type { OwnerDetails } from '../../actions/accounts/owner-details.js'
import { renameTo } from '../../actions/accounts/rename-owner.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { Confirmation, refuseUnconfirmed } from '../kit/confirmation.js'
import { DetailFields, detailsAsSent, detailsOf } from '../kit/detail-fields.js'
import { htmlReply } from '../kit/html.js'
import { organizationPath } from '../kit/links.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { RenameForm } from '../kit/rename-form.js'
import { OrganizationDocument, VISIBILITY_LABELS } from './organization-document.js'

const PATH = '/org/{org}/settings'
const ACCESS = { kind: 'organization', role: 'owner' } as const

interface Shows {
  readonly grant: Grants['organization']
  readonly details?: OwnerDetails
  readonly error?: string
}

function OrganizationSettings({
  context,
  grant,
  details,
  error,
}: Shows & { readonly context: Context }): JSX.Element {
  const { organization } = grant
  const address = `${context.settings.http.basePath}${organizationPath(grant)}/settings`
  return (
    <OrganizationDocument
      context={context}
      grant={grant}
      error={error}
      tab="settings"
      title="Settings"
    >
      <form class="form" method="post" action={address}>
        <DetailFields details={details ?? organization} words={VISIBILITY_LABELS} />
        <button type="submit">Save</button>
      </form>
      <p>
        <a href={`${address}/audit`}>Audit log</a>
      </p>
      {context.settings.actions.isEnabled && (
        <p>
          <a href={`${address}/actions/runners`}>Runners</a>
        </p>
      )}
      {context.settings.packages.isEnabled && (
        <p>
          <a href={`${context.settings.http.basePath}/${organization.name}/-/packages/settings`}>
            Packages
          </a>
        </p>
      )}
      <p>
        <a href={`${address}/blocked_users`}>Blocked users</a>
      </p>
      <section class="danger-zone">
        <RenameForm address={`${address}/rename`} name={organization.name} />
        <h3>Delete</h3>
        <p>
          First delete or transfer its repositories and packages. Its teams are deleted with it.
        </p>
        <form method="post" action={`${address}/delete`}>
          <Confirmation id="confirm" name={organization.name} />
          <button type="submit" class="danger">
            Delete this organization
          </button>
        </form>
      </section>
    </OrganizationDocument>
  )
}

function answer(
  context: Context,
  request: Request,
  { status = 200, ...rest }: Shows & { readonly status?: number },
) {
  return htmlReply(request, <OrganizationSettings context={context} {...rest} />, { status })
}

const show = definePage<'organization'>({
  method: 'GET',
  path: PATH,
  access: ACCESS,
  handle: (context, { request, grant }) => answer(context, request, { grant }),
})

const save = definePage<'organization'>({
  method: 'POST',
  path: PATH,
  access: ACCESS,
  async handle(context, { request, grant }) {
    const form = await readForm(request)
    const change = async () => {
      await updateOrganization(context.db, grant.organization.id, detailsOf(form))
      return redirectTo(context, `${organizationPath(grant)}/settings`)
    }
    return withFormErrors(change, ({ message, status }) => {
      const details = detailsAsSent(form)
      return answer(context, request, { grant, details, error: message, status })
    })
  },
})

const rename = definePage<'organization'>({
  method: 'POST',
  path: `${PATH}/rename`,
  access: ACCESS,
  async handle(context, { request, grant }) {
    const name = fieldOf(await readForm(request), 'new_name')
    const change = async () => {
      await renameTo(context, grant.organization, name)
      return redirectTo(context, `/org/${name}/settings`)
    }
    return withFormErrors(change, ({ message, status }) =>
      answer(context, request, { grant, error: message, status }),
    )
  },
})

const remove = definePage<'organization'>({
  method: 'POST',
  path: `${PATH}/delete`,
  access: ACCESS,
  async handle(context, { request, grant }) {
    const form = await readForm(request)
    const end = async () => {
      refuseUnconfirmed(form, grant.organization.name)
      await deleteOrganization(context.db, grant.organization.id)
      return redirectTo(context, '/user/settings/organizations')
    }
    return withFormErrors(end, ({ message, status }) =>
      answer(context, request, { grant, error: message, status }),
    )
  },
})

export const ORGANIZATION_SETTINGS_PAGES = [show, save, rename, remove]
