/** Page with the form for a new issue. */

import type { JSX } from 'preact/jsx-runtime'
import { notFound } from '../../../conf/failures.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { isServed } from '../../actions/issues/issue-access.js'
import { openIssue } from '../../actions/issues/open-issue.js'
import type { Context } from '../../request/context.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import {
  definePage,
  fieldOf,
  multilineField,
  readForm,
  redirectTo,
  withFormErrors,
} from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { RepositoryDocument } from '../repositories/repository-document.js'

const PATH = '/{owner}/{repo}/issues/new'
const ACCESS = { kind: 'repository', mode: 'read', unit: 'issues', isSignedIn: true } as const

interface NewIssueProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly form?: URLSearchParams
  readonly error?: string
}

function NewIssue({ context, grant, form, error }: NewIssueProps): JSX.Element {
  const sent = form ?? new URLSearchParams()
  return (
    <RepositoryDocument context={context} grant={grant} tab="issues" title="New issue">
      <h2>New issue</h2>
      <ErrorMessage error={error} />
      <form method="post" action={`${repositoryUrl(context, grant)}/issues/new`}>
        <label for="title">Title</label>
        <input
          type="text"
          id="title"
          name="title"
          required={true}
          maxlength={255}
          value={fieldOf(sent, 'title')}
        />
        <label for="content">Description (Markdown)</label>
        <textarea id="content" name="content" rows={12}>
          {multilineField(sent, 'content')}
        </textarea>
        <button type="submit">Open the issue</button>
      </form>
    </RepositoryDocument>
  )
}

const show = definePage<'repository'>({
  method: 'GET',
  path: PATH,
  access: ACCESS,
  handle(context, { request, grant }) {
    if (!isServed(grant.repository, { isPull: false })) throw notFound()
    actingUserOf(grant)
    return htmlReply(request, <NewIssue context={context} grant={grant} />)
  },
})

const open = definePage<'repository'>({
  method: 'POST',
  path: PATH,
  access: { ...ACCESS, refusesBlocked: true },
  async handle(context, { request, grant }) {
    const form = await readForm(request)
    const { owner, name } = grant.repository
    const make = async () => {
      const input = { title: fieldOf(form, 'title'), content: multilineField(form, 'content') }
      const { number } = await openIssue(context, grant, input)
      return redirectTo(context, `/${owner.name}/${name}/issues/${number}`)
    }
    return withFormErrors(make, ({ message, status }) =>
      htmlReply(request, <NewIssue context={context} grant={grant} form={form} error={message} />, {
        status,
      }),
    )
  },
})

export const NEW_ISSUE_PAGES = [show, open]
