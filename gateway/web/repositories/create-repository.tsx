/** Page with the form for a new repository. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import type { User } from '../../../sql/accounts/users.js'
import {
  listOrganizations,
  mayCreateRepositories,
} from '../../../sql/organizations/organizations.js'
import { makeRepository } from '../../actions/repositories/create-repository.js'
import type { Identity } from '../../auth/authenticate.js'
import { findOwnerForNewRepository } from '../../auth/authorize-accounts.js'
import { viewerOf } from '../../auth/refusals.js'
import type { Context } from '../../request/context.js'
import { Document } from '../kit/document.js'
import { htmlReply } from '../kit/html.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'

interface NewRepositoryProps {
  readonly context: Context
  readonly user: User
  /** Names of the owners that the user can create repositories for. */
  readonly owners: readonly string[]
  /** Form as sent before, or the query of the URL. */
  readonly sent: URLSearchParams
  readonly error?: string
}

function NewRepository({ context, user, owners, sent, error }: NewRepositoryProps): JSX.Element {
  const chosen = fieldOf(sent, 'owner')
  return (
    <Document context={context} title="New repository" user={user}>
      <section class="narrow">
        <h1>New repository</h1>
        <ErrorMessage error={error} />
        <form method="post" action={`${context.settings.http.basePath}/repo/create`}>
          <label for="owner">Owner</label>
          <select id="owner" name="owner">
            {owners.map((name) => (
              <option value={name} selected={name === chosen}>
                {name}
              </option>
            ))}
          </select>
          <label for="name">Name</label>
          <input
            type="text"
            id="name"
            name="name"
            required={true}
            maxlength={100}
            value={fieldOf(sent, 'name')}
          />
          <label for="description">Description</label>
          <input
            type="text"
            id="description"
            name="description"
            maxlength={2_048}
            value={fieldOf(sent, 'description')}
          />
          <label class="choice">
            <input type="checkbox" name="private" checked={sent.has('private')} /> Private: visible
            only to users with access
          </label>
          <label class="choice">
            <input type="checkbox" name="readme" checked={sent.has('readme')} /> Create a README
          </label>
          <button type="submit">Create</button>
        </form>
      </section>
    </Document>
  )
}

const ORGANIZATIONS_MAX = 100

interface Asks {
  readonly request: Request
  readonly grant: { readonly who: Identity; readonly user: User }
}

async function answer(
  context: Context,
  { request, grant: { who, user } }: Asks,
  { status = 200, ...rest }: Pick<NewRepositoryProps, 'sent' | 'error'> & { status?: number },
) {
  const search = { viewer: viewerOf(who), memberId: user.id }
  const page = { page: 1, limit: ORGANIZATIONS_MAX }
  const owners = [user.name]
  for (const { id, name } of (await listOrganizations(context.db, search, page)).entries) {
    if (await mayCreateRepositories(context.db, id, user.id)) owners.push(name)
  }
  return htmlReply(
    request,
    <NewRepository context={context} user={user} owners={owners} {...rest} />,
    { status },
  )
}

const show = definePage<'signed-in'>({
  method: 'GET',
  path: '/repo/create',
  access: { kind: 'signed-in' },
  handle: (context, call) =>
    answer(context, call, { sent: new URLSearchParams(call.request.query) }),
})

const create = definePage<'signed-in'>({
  method: 'POST',
  path: '/repo/create',
  access: { kind: 'signed-in' },
  async handle(context, call) {
    const { who, user } = call.grant
    const form = await readForm(call.request)
    const make = async () => {
      const owner = await findOwnerForNewRepository(
        context.db,
        who,
        fieldOf(form, 'owner') || user.name,
      )
      const { name } = await makeRepository(context, {
        owner,
        creator: user,
        name: fieldOf(form, 'name'),
        description: fieldOf(form, 'description'),
        isPrivate: form.has('private'),
        hasReadme: form.has('readme'),
        isTemplate: false,
        defaultBranch: 'main',
        objectFormat: 'sha1',
      })
      return redirectTo(context, `/${owner.name}/${name}`)
    }
    return withFormErrors(make, ({ message, status }) =>
      answer(context, call, { sent: form, error: message, status }),
    )
  },
})

export const CREATE_REPOSITORY_PAGES = [show, create]
