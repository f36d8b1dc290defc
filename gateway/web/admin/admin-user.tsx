/** Administration of one account: permissions, password, name, deletion. */

import type { JSX } from 'preact/jsx-runtime'
import { Failure, notFound } from '../../../conf/failures.js'
import type { Request } from '../../../conf/http.js'
import { findUser, type User } from '../../../sql/accounts/users.js'
import { changeUser, type ManagedUser, removeUser } from '../../actions/accounts/manage-users.js'
import { renameTo } from '../../actions/accounts/rename-owner.js'
import { PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN } from '../../auth/password.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { htmlReply } from '../kit/html.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { RenameForm } from '../kit/rename-form.js'
import { Ago } from '../kit/times.js'
import { ADMIN_ACCESS, AdminDocument } from './admin-document.js'
import { UserLabels } from './admin-users.js'

const PATH = '/admin/users/{username}'

interface UserPageProps {
  readonly context: Context
  readonly managed: ManagedUser
  readonly error?: string | undefined
}

function UserPage({ context, managed: { user, admin }, error }: UserPageProps): JSX.Element {
  const { basePath } = context.settings.http
  const address = `${basePath}/admin/users/${user.name}`
  return (
    <AdminDocument context={context} user={admin} tab="users">
      <section class="column">
        <h2>
          {user.name} <UserLabels user={user} />
        </h2>
        <p>
          <Shown text={[user.fullName, user.email].filter((text) => text !== '').join(' · ')} />
        </p>
        <p class="quiet">
          {'Created '}
          <Ago atMs={user.createdAtMs} />
          {user.lastLoginAtMs === undefined ? ', never signed in' : ', last signed in '}
          {user.lastLoginAtMs !== undefined && <Ago atMs={user.lastLoginAtMs} />}
        </p>
        <p>
          <a href={`${basePath}/${user.name}`}>Repositories and packages</a>
        </p>
        <ErrorMessage error={error} />
        <RightsForm address={address} user={user} />
        <PasswordForm address={address} />
        <RenameForm address={`${address}/rename`} name={user.name} />
        <RemovalForm address={address} user={user} />
      </section>
    </AdminDocument>
  )
}

interface FormProps {
  readonly address: string
  readonly user: User
}

function RightsForm({ address, user }: FormProps): JSX.Element {
  return (
    <form method="post" action={address}>
      <h3>Permissions</h3>
      <label class="choice">
        <input type="checkbox" name="is_admin" checked={user.isAdmin} /> Administrator
      </label>
      <label class="choice">
        <input type="checkbox" name="is_prohibited" checked={user.isLoginProhibited} /> Sign-in
        disabled, on pages and with tokens and keys
      </label>
      <button type="submit">Save</button>
    </form>
  )
}

function PasswordForm({ address }: Pick<FormProps, 'address'>): JSX.Element {
  const length = { minlength: PASSWORD_CHARACTERS_MIN, maxlength: PASSWORD_CHARACTERS_MAX }
  return (
    <form method="post" action={`${address}/password`}>
      <h3>Password</h3>
      <label for="password">New password (ends all sessions of the user)</label>
      <input
        type="password"
        id="password"
        name="password"
        required={true}
        {...length}
        autocomplete="new-password"
      />
      <button type="submit">Set password</button>
    </form>
  )
}

function RemovalForm({ address, user }: FormProps): JSX.Element {
  return (
    <form method="post" action={`${address}/delete`}>
      <h3>Delete</h3>
      <label for="confirmation">{`Type ${user.name} to delete the account permanently`}</label>
      <input type="text" id="confirmation" name="confirmation" required={true} autocomplete="off" />
      <label class="choice">
        <input type="checkbox" name="purge" /> Also delete all its repositories and packages
      </label>
      <button type="submit" class="danger">
        Delete
      </button>
    </form>
  )
}

async function managedUser(
  { db }: Context,
  { params, grant }: Call<'admin'>,
): Promise<ManagedUser> {
  const user = await findUser(db, params['username'] ?? '')
  if (user === undefined) throw notFound()
  return { user, admin: grant.user }
}

function answer(
  context: Context,
  request: Request,
  { managed, error, status = 200 }: Omit<UserPageProps, 'context'> & { readonly status?: number },
) {
  return htmlReply(request, <UserPage context={context} managed={managed} error={error} />, {
    status,
  })
}

const show = definePage<'admin'>({
  method: 'GET',
  path: PATH,
  access: ADMIN_ACCESS,
  async handle(context, call) {
    return answer(context, call.request, { managed: await managedUser(context, call) })
  },
})

/** Defines a form target that runs `work` on the account and redirects to the path it returns. */
function formPage(
  path: string,
  work: (context: Context, managed: ManagedUser, form: URLSearchParams) => Promise<string>,
) {
  return definePage<'admin'>({
    method: 'POST',
    path,
    access: ADMIN_ACCESS,
    async handle(context, call) {
      const form = await readForm(call.request)
      const managed = await managedUser(context, call)
      return withFormErrors(
        async () => redirectTo(context, await work(context, managed, form)),
        ({ message, status }) => answer(context, call.request, { managed, error: message, status }),
      )
    },
  })
}

const change = formPage(PATH, async (context, managed, form) => {
  const isLoginProhibited = form.has('is_prohibited')
  await changeUser(context, managed, { isAdmin: form.has('is_admin'), isLoginProhibited })
  return `/admin/users/${managed.user.name}`
})

const setPassword = formPage(`${PATH}/password`, async (context, managed, form) => {
  await changeUser(context, managed, { password: form.get('password') ?? '' })
  return `/admin/users/${managed.user.name}`
})

const rename = formPage(`${PATH}/rename`, async (context, { user }, form) => {
  const name = fieldOf(form, 'new_name')
  await renameTo(context, user, name)
  return `/admin/users/${name}`
})

const remove = formPage(`${PATH}/delete`, async (context, managed, form) => {
  if (fieldOf(form, 'confirmation') !== managed.user.name) {
    throw new Failure('invalid', `Not confirmed. Type ${managed.user.name} to delete the account.`)
  }
  await removeUser(context, managed, { isPurge: form.has('purge') })
  return '/admin/users'
})

export const ADMIN_USER_PAGES = [show, change, setPassword, rename, remove]
