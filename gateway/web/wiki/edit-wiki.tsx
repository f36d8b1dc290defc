/** Forms of a wiki: a new page, the text and title of a page, and its deletion. */

import type { JSX } from 'preact/jsx-runtime'
import type { Reply } from '../../../conf/http.js'
import { type WikiName, wikiNameOf } from '../../../conf/wiki-name.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { addWikiPage, editWikiPage, removeWikiPage } from '../../actions/wiki/change-wiki.js'
import { readWiki, readWikiText, requireWikiPage } from '../../actions/wiki/read-wiki.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { Confirmation, refuseUnconfirmed } from '../kit/confirmation.js'
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
import { TextField } from '../kit/text-field.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { segmentIn } from './wiki-path.js'

const FORM = { kind: 'repository', mode: 'write', unit: 'wiki', isSignedIn: true } as const
const ACCESS = { ...FORM, changesGit: true } as const

const TITLE_CHARACTERS_MAX = 255

interface FormProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  /** Page that is edited; undefined for a new one. */
  readonly page?: WikiName
  readonly fields: { readonly title: string; readonly content: string; readonly message: string }
  readonly error?: string
}

function WikiForm({ context, grant, page, fields, error }: FormProps): JSX.Element {
  const address = `${repositoryUrl(context, grant)}/wiki`
  const heading = page === undefined ? 'New page' : 'Edit page'
  const target = page === undefined ? '_new' : `${page.segment}/_edit`
  return (
    <RepositoryDocument context={context} grant={grant} tab="wiki" title={heading}>
      <h2>{heading}</h2>
      <ErrorMessage error={error} />
      <form method="post" action={`${address}/${target}`}>
        <TextField
          label="Title"
          name="title"
          value={fields.title}
          charactersMax={TITLE_CHARACTERS_MAX}
          isRequired={true}
        />
        <label for="content">Text (Markdown)</label>
        <textarea id="content" name="content" rows={24}>
          {fields.content}
        </textarea>
        <TextField
          label="Summary of the change"
          name="message"
          value={fields.message}
          charactersMax={TITLE_CHARACTERS_MAX}
        />
        <button type="submit">Save the page</button>
      </form>
      {page !== undefined && (
        <form method="post" action={`${address}/${page.segment}/_delete`}>
          <h3>Delete the page</h3>
          <Confirmation id="confirm" name={page.title} />
          <button type="submit">Delete the page</button>
        </form>
      )}
    </RepositoryDocument>
  )
}

const NO_FIELDS = { title: '', content: '', message: '' }

const showNew = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/wiki/_new',
  access: FORM,
  handle(context, { request, grant }) {
    actingUserOf(grant)
    return htmlReply(request, <WikiForm context={context} grant={grant} fields={NO_FIELDS} />)
  },
})

const add = definePage<'repository'>({
  method: 'POST',
  path: '/{owner}/{repo}/wiki/_new',
  access: ACCESS,
  handle: (context, call) => save(context, call, undefined),
})

const showEdit = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/wiki/{pageName}/_edit',
  access: FORM,
  handle: (context, call) => {
    actingUserOf(call.grant)
    return showPage(context, call, segmentIn(call.request, '_edit'))
  },
})

const edit = definePage<'repository'>({
  method: 'POST',
  path: '/{owner}/{repo}/wiki/{pageName}/_edit',
  access: ACCESS,
  handle: (context, call) => save(context, call, wikiNameOf(segmentIn(call.request, '_edit'))),
})

async function save(
  context: Context,
  { request, grant }: Call<'repository'>,
  page: WikiName | undefined,
): Promise<Reply> {
  const form = await readForm(request)
  const fields = {
    title: fieldOf(form, 'title'),
    content: multilineField(form, 'content'),
    message: fieldOf(form, 'message'),
  }
  const caller = { request, grant }
  const input = { ...fields, content: Buffer.from(fields.content) }
  const work = async () => {
    const { segment } =
      page === undefined
        ? await addWikiPage(context, caller, input)
        : await editWikiPage(context, caller, { ...input, segment: page.segment })
    return redirectTo(context, `${wikiPath(grant)}/${segment}`)
  }
  return withFormErrors(work, ({ message, status }) => {
    const props = { context, grant, fields, error: message }
    const form = page === undefined ? <WikiForm {...props} /> : <WikiForm {...props} page={page} />
    return htmlReply(request, form, { status })
  })
}

const remove = definePage<'repository'>({
  method: 'POST',
  path: '/{owner}/{repo}/wiki/{pageName}/_delete',
  access: ACCESS,
  async handle(context, call) {
    const { request, grant } = call
    const segment = segmentIn(request, '_delete')
    const form = await readForm(request)
    const work = async () => {
      refuseUnconfirmed(form, wikiNameOf(segment).title)
      await removeWikiPage(context, { request, grant }, segment)
      return redirectTo(context, `${wikiPath(grant)}/_pages`)
    }
    return withFormErrors(work, (failure) => showPage(context, call, segment, failure))
  },
})

/** Shows the form with the present text of a page. Throws `not_found` if there is none. */
async function showPage(
  context: Context,
  { request, grant }: Call<'repository'>,
  segment: string,
  failure?: { readonly message: string; readonly status: number },
): Promise<Reply> {
  const { page, content } = await readWiki(context, { request, grant }, async (wiki) => {
    const found = await requireWikiPage(wiki, segment)
    return { page: found, content: await readWikiText(wiki, found) }
  })
  const fields = { title: page.title, content, message: '' }
  const error = failure === undefined ? {} : { error: failure.message }
  return htmlReply(
    request,
    <WikiForm context={context} grant={grant} page={page} fields={fields} {...error} />,
    failure === undefined ? {} : { status: failure.status },
  )
}

function wikiPath({ repository: { owner, name } }: RepositoryGrant): string {
  return `/${owner.name}/${name}/wiki`
}

export const EDIT_WIKI_PAGES = [showNew, add, showEdit, edit, remove]
