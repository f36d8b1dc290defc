/** Administration, Users: list, search and creation of accounts. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import { searchUsers } from '../../../sql/accounts/user-search.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Page, Paged } from '../../../sql/database/page.js'
import { makeUser } from '../../actions/accounts/manage-users.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { AccountForm, accountInputOf } from '../accounts/account-form.js'
import { htmlReply } from '../kit/html.js'
import { definePage, pageNumber, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { ErrorMessage } from '../kit/problem.js'
import { Ago } from '../kit/times.js'
import { ADMIN_ACCESS, AdminDocument } from './admin-document.js'

const PATH = '/admin/users'
const LISTED = 30

interface UsersProps {
  readonly context: Context
  readonly user: User
  /** Search text for names; empty for all users. */
  readonly text: string
  readonly page: Page
  readonly users: Paged<User>
  readonly form?: URLSearchParams | undefined
  readonly error?: string | undefined
}

function Users({ context, user, text, page, users, form, error }: UsersProps): JSX.Element {
  const address = context.settings.http.basePath + PATH
  return (
    <AdminDocument context={context} user={user} tab="users">
      <section>
        <h2>Users</h2>
        <form method="get" action={address} class="column">
          <label for="q">Part of the name</label>
          <input type="search" id="q" name="q" value={text} />
          <button type="submit">Search</button>
        </form>
        <p class="quiet">{`${users.total} found`}</p>
        <UserList address={address} users={users.entries} />
        <Pager
          address={address}
          page={page}
          total={users.total}
          query={text === '' ? {} : { q: text }}
        />
      </section>
      <section class="column">
        <h2>New user</h2>
        <ErrorMessage error={error} />
        <AccountForm address={address} form={form} button="Create account">
          <label class="choice">
            <input type="checkbox" name="is_admin" checked={form?.has('is_admin') ?? false} />{' '}
            Administrator
          </label>
        </AccountForm>
      </section>
    </AdminDocument>
  )
}

interface UserListProps {
  readonly address: string
  readonly users: readonly User[]
}

function UserList({ address, users }: UserListProps): JSX.Element {
  if (users.length === 0) return <p class="empty">There is no user with this name.</p>
  return (
    <ul class="list">
      {users.map((user) => (
        <li>
          <div class="grow">
            <a class="strong" href={`${address}/${user.name}`}>
              {user.name}
            </a>{' '}
            <UserLabels user={user} />
            <p class="quiet">
              <Shown text={[user.fullName, user.email].filter((text) => text !== '').join(' · ')} />
            </p>
          </div>
          {user.lastLoginAtMs !== undefined && <Ago atMs={user.lastLoginAtMs} />}
        </li>
      ))}
    </ul>
  )
}

/** Renders labels for administrators and accounts that cannot sign in. */
export function UserLabels({ user }: { readonly user: User }): JSX.Element {
  return (
    <>
      {user.isAdmin && <span class="label">administrator</span>}
      {user.isLoginProhibited && <span class="label">sign-in disabled</span>}
      {!user.isActive && <span class="label">not active</span>}
    </>
  )
}

async function answer(
  context: Context,
  request: Request,
  {
    user,
    status = 200,
    ...again
  }: Pick<UsersProps, 'user' | 'form' | 'error'> & { readonly status?: number },
) {
  const text = (new URLSearchParams(request.query).get('q') ?? '').trim()
  const page = { page: pageNumber(request), limit: LISTED }
  const users = await searchUsers(
    context.db,
    { viewer: { kind: 'admin', id: user.id }, text },
    page,
  )
  return htmlReply(
    request,
    <Users context={context} user={user} text={text} page={page} users={users} {...again} />,
    {
      status,
    },
  )
}

const start = definePage<'admin'>({
  method: 'GET',
  path: '/admin',
  access: ADMIN_ACCESS,
  handle: (context) => redirectTo(context, PATH),
})

const list = definePage<'admin'>({
  method: 'GET',
  path: PATH,
  access: ADMIN_ACCESS,
  handle: (context, { request, grant: { user } }) => answer(context, request, { user }),
})

const create = definePage<'admin'>({
  method: 'POST',
  path: PATH,
  access: ADMIN_ACCESS,
  async handle(context, { request, grant: { user } }) {
    const form = await readForm(request)
    const make = async () => {
      const isAdmin = form.has('is_admin')
      const { name } = await makeUser(context, { ...accountInputOf(form), isAdmin })
      return redirectTo(context, `${PATH}/${name}`)
    }
    return withFormErrors(make, ({ message, status }) =>
      answer(context, request, { user, form, error: message, status }),
    )
  },
})

export const ADMIN_USERS_PAGES = [start, list, create]
