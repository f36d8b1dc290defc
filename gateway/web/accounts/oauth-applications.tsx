/** Account settings, OAuth applications: the user's own and those that the user authorized. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import {
  deleteApplication,
  listApplications,
  type OauthApplication,
} from '../../../sql/accounts/oauth-applications.js'
import { endGrants, listPermissions, type Permission } from '../../../sql/accounts/oauth-grants.js'
import type { User } from '../../../sql/accounts/users.js'
import {
  makeApplication,
  type TrustedApplication,
} from '../../actions/accounts/oauth-application.js'
import { readId } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { htmlReply } from '../kit/html.js'
import { Icon } from '../kit/icon.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { RemovalForm } from '../kit/removal-form.js'
import { Ago } from '../kit/times.js'
import { AccountDocument } from './account-document.js'

const PATH = '/user/settings/oauth2'
const LISTED = 50

interface OauthApplicationsProps {
  readonly context: Context
  readonly user: User
  readonly applications: readonly OauthApplication[]
  readonly permissions: readonly Permission[]
  /** Application that was just created; this is the only response that shows its secret. */
  readonly made?: TrustedApplication
  /** Form as sent, if it was rejected. */
  readonly form?: URLSearchParams
  readonly error?: string
}

function OauthApplications(props: OauthApplicationsProps): JSX.Element {
  const { context, user, applications, permissions, made, form, error } = props
  const address = context.settings.http.basePath + PATH
  return (
    <AccountDocument context={context} user={user} tab="oauth2">
      <section>
        <h2>OAuth applications</h2>
        <p class="quiet">
          Websites and programs in which users sign in with their account on this server, without
          entering a password there.
        </p>
        <ErrorMessage error={error} />
        {made !== undefined && <Made {...made} />}
        <h3>Authorized applications</h3>
        <PermissionList address={address} permissions={permissions} />
        <h3>Your applications</h3>
        <ApplicationList address={address} applications={applications} />
        <h3>New application</h3>
        <ApplicationForm address={address} form={form ?? new URLSearchParams('confidential=on')} />
      </section>
    </AccountDocument>
  )
}

function Made({ application, secret }: TrustedApplication): JSX.Element {
  return (
    <div class="notice" role="status">
      <label for="client">Client ID</label>
      <input type="text" id="client" class="code" readonly={true} value={application.clientId} />
      {secret !== '' && <label for="secret">Copy the secret now: it is not shown again.</label>}
      {secret !== '' && (
        <input type="text" id="secret" class="code" readonly={true} value={secret} />
      )}
    </div>
  )
}

interface PermissionListProps {
  readonly address: string
  readonly permissions: readonly Permission[]
}

function PermissionList({ address, permissions }: PermissionListProps): JSX.Element {
  if (permissions.length === 0) return <p class="empty">There are no authorized applications.</p>
  return (
    <ul class="list">
      {permissions.map(({ application: { id, name }, scopes, sinceMs, lastUsedAtMs }) => (
        <li>
          <Icon name="key" />
          <div class="grow">
            <strong>
              <Shown text={name} />
            </strong>
            <p class="quiet">
              {`${scopes.join(', ')} · since `}
              <Ago atMs={sinceMs} /> · last used <Ago atMs={lastUsedAtMs} />
            </p>
          </div>
          <Remove address={`${address}/revoke`} id={id} word="Revoke" name={name} />
        </li>
      ))}
    </ul>
  )
}

interface ApplicationListProps {
  readonly address: string
  readonly applications: readonly OauthApplication[]
}

function ApplicationList({ address, applications }: ApplicationListProps): JSX.Element {
  if (applications.length === 0) return <p class="empty">There are no applications.</p>
  return (
    <ul class="list">
      {applications.map(({ id, name, clientId, redirectUris, isConfidential }) => (
        <li>
          <Icon name="key" />
          <div class="grow">
            <strong>
              <Shown text={name} />
            </strong>{' '}
            <code>{clientId}</code>
            <p class="quiet">
              {`${isConfidential ? 'with a secret' : 'public'} · ${redirectUris.join(', ')}`}
            </p>
          </div>
          <Remove address={`${address}/delete`} id={id} word="Remove" name={name} />
        </li>
      ))}
    </ul>
  )
}

interface RemoveProps {
  readonly address: string
  readonly id: number
  readonly word: string
  /** Name of the application. */
  readonly name: string
}

function Remove({ address, id, word, name }: RemoveProps): JSX.Element {
  return <RemovalForm address={address} id={id} word={word} label={`${word} ${name}`} />
}

interface ApplicationFormProps {
  readonly address: string
  readonly form: URLSearchParams
}

function ApplicationForm({ address, form }: ApplicationFormProps): JSX.Element {
  return (
    <form method="post" action={address}>
      <label for="name">Name</label>
      <input
        type="text"
        id="name"
        name="name"
        required={true}
        maxlength={255}
        value={fieldOf(form, 'name')}
      />
      <label for="redirects">Redirect addresses, one on each line</label>
      <textarea id="redirects" name="redirects" rows={3} required={true}>
        {fieldOf(form, 'redirects')}
      </textarea>
      <label class="choice">
        <input type="checkbox" name="confidential" checked={form.has('confidential')} /> It runs on
        a server, where it can keep a secret
      </label>
      <button type="submit">Create application</button>
    </form>
  )
}

async function reply(
  context: Context,
  request: Request,
  {
    user,
    status = 200,
    ...rest
  }: Pick<OauthApplicationsProps, 'user' | 'made' | 'form' | 'error'> & {
    readonly status?: number
  },
) {
  const { db } = context
  const { entries: applications } = await listApplications(db, user.id, { page: 1, limit: LISTED })
  const permissions = await listPermissions(db, user.id)
  const page = (
    <OauthApplications
      context={context}
      user={user}
      applications={applications}
      permissions={permissions}
      {...rest}
    />
  )
  return htmlReply(request, page, { status, headers: [['Cache-Control', 'no-store']] })
}

const show = definePage<'signed-in'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'signed-in' },
  handle: (context, { request, grant: { user } }) => reply(context, request, { user }),
})

const create = definePage<'signed-in'>({
  method: 'POST',
  path: PATH,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const form = await readForm(request)
    const make = async () => {
      const made = await makeApplication(context.db, user.id, {
        name: fieldOf(form, 'name'),
        redirectUris: fieldOf(form, 'redirects').split(/\s+/),
        isConfidential: form.has('confidential'),
        skipsSecondConsent: false,
      })
      return await reply(context, request, { user, made })
    }
    return withFormErrors(make, ({ message, status }) =>
      reply(context, request, { user, form, error: message, status }),
    )
  },
})

const remove = definePage<'signed-in'>({
  method: 'POST',
  path: `${PATH}/delete`,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const id = readId(fieldOf(await readForm(request), 'id'))
    if (id !== undefined) await deleteApplication(context.db, { ownerId: user.id, id })
    return redirectTo(context, PATH)
  },
})

const revoke = definePage<'signed-in'>({
  method: 'POST',
  path: `${PATH}/revoke`,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const applicationId = readId(fieldOf(await readForm(request), 'id'))
    if (applicationId !== undefined) {
      await endGrants(context.db, { userId: user.id, applicationId })
    }
    return redirectTo(context, PATH)
  },
})

export const OAUTH_APPLICATIONS_PAGES = [show, create, remove, revoke]
