/** The form for a new repository. */

import type { JSX } from 'preact/jsx-runtime'
import type { User } from '../../sql/users.js'
import { makeRepository } from '../actions/create-repository.js'
import type { Context } from '../context.js'
import { Document } from './document.js'
import { htmlReply } from './html.js'
import { definePage, fieldOf, leadTo, orAgain, readForm } from './page.js'
import { Problem } from './problem.js'

interface NewRepositoryProps {
  readonly context: Context
  readonly user: User
  readonly form?: URLSearchParams
  readonly error?: string
}

function NewRepository({ context, user, form, error }: NewRepositoryProps): JSX.Element {
  const sent = form ?? new URLSearchParams()
  return (
    <Document context={context} title="New repository" user={user}>
      <section class="narrow">
        <h1>New repository</h1>
        <Problem error={error} />
        <form method="post" action={`${context.settings.http.baseUrl}/repo/create`}>
          <label for="name">Name</label>
          <input
            {...{ type: 'text', id: 'name', name: 'name', required: true, maxlength: 100 }}
            value={fieldOf(sent, 'name')}
          />
          <label for="description">Description</label>
          <input
            {...{ type: 'text', id: 'description', name: 'description', maxlength: 2_048 }}
            value={fieldOf(sent, 'description')}
          />
          <label class="choice">
            <input type="checkbox" name="private" checked={sent.has('private')} /> Private: only who
            you let in may see it
          </label>
          <label class="choice">
            <input type="checkbox" name="readme" checked={sent.has('readme')} /> Begin with a README
          </label>
          <button type="submit">Create</button>
        </form>
      </section>
    </Document>
  )
}

const show = definePage<'signed-in'>({
  method: 'GET',
  path: '/repo/create',
  access: { kind: 'signed-in' },
  handle: (context, { request, grant: { user } }) =>
    htmlReply(request, <NewRepository context={context} user={user} />),
})

const create = definePage<'signed-in'>({
  method: 'POST',
  path: '/repo/create',
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { user } }) {
    const form = await readForm(request)
    const make = async () => {
      const { name } = await makeRepository(context, {
        ...{ owner: user, creator: user },
        name: fieldOf(form, 'name'),
        description: fieldOf(form, 'description'),
        isPrivate: form.has('private'),
        hasReadme: form.has('readme'),
        ...{ isTemplate: false, defaultBranch: 'main', objectFormat: 'sha1' },
      })
      return leadTo(context, `/${user.name}/${name}`)
    }
    return orAgain(make, ({ message, status }) => {
      const again = <NewRepository {...{ context, user, form }} error={message} />
      return htmlReply(request, again, { status })
    })
  },
})

export const CREATE_REPOSITORY_PAGES = [show, create]
