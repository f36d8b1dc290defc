/** Pages of a wiki: a page with its sidebar and footer, the list of all pages, and revisions. */

import type { JSX } from 'preact/jsx-runtime'
import type { Commit } from '../../../cgi/objects/commit-object.js'
import { isFailure, notFound } from '../../../conf/failures.js'
import { type WikiName, wikiNameOf } from '../../../conf/wiki-name.js'
import { atLeast } from '../../../sql/repositories/access.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import {
  findWikiPage,
  type ListedPage,
  listWikiPages,
  readWiki,
  readWikiHistory,
  readWikiText,
  requireWikiPage,
  type WikiHistory,
  type WikiReader,
} from '../../actions/wiki/read-wiki.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { firstLineOf } from '../code/folder.js'
import { drawWritten, Written, type WrittenTexts } from '../issues/written.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, pageNumber } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { Ago } from '../kit/times.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { segmentIn } from './wiki-path.js'

const ACCESS = { kind: 'repository', mode: 'read', unit: 'wiki' } as const
const LISTED = 50
const REVISIONS_LISTED = 30

const FRONT = 'Home'

interface OfWiki {
  readonly context: Context
  readonly grant: RepositoryGrant
}

/** Texts of a page, and its last commit. */
interface Contents {
  readonly text: string
  readonly sidebar: string | undefined
  readonly footer: string | undefined
  readonly history: WikiHistory
}

const front = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/wiki',
  access: ACCESS,
  async handle(context, call) {
    const name = wikiNameOf(FRONT)
    const contents = await readWiki(context, call, (wiki) => contentsOf(wiki, name)).catch(
      (error: unknown) => {
        if (!isFailure(error, 'not_found')) throw error
        return undefined
      },
    )
    if (contents !== undefined) return await showPage(context, call, { name, contents })
    const { grant, request } = call
    return htmlReply(
      request,
      <RepositoryDocument context={context} grant={grant} tab="wiki" title="Wiki">
        <h2>Wiki</h2>
        <WikiLinks context={context} grant={grant} />
        <p class="empty">There is no page Home yet.</p>
      </RepositoryDocument>,
    )
  },
})

const one = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/wiki/{pageName}',
  access: ACCESS,
  async handle(context, call) {
    const name = wikiNameOf(segmentIn(call.request))
    const contents = await readWiki(context, call, (wiki) => contentsOf(wiki, name))
    if (contents === undefined) throw notFound()
    return await showPage(context, call, { name, contents })
  },
})

async function contentsOf(wiki: WikiReader, name: WikiName): Promise<Contents | undefined> {
  const found = await findWikiPage(wiki.objects, wiki.tip, name)
  if (found === undefined) return undefined
  return {
    text: await readWikiText(wiki, found),
    sidebar: await partOf(wiki, '_Sidebar'),
    footer: await partOf(wiki, '_Footer'),
    history: await readWikiHistory(wiki, found, { page: 1, limit: 1 }),
  }
}

async function partOf(wiki: WikiReader, name: string): Promise<string | undefined> {
  const found = await findWikiPage(wiki.objects, wiki.tip, wikiNameOf(name))
  return found && (await readWikiText(wiki, found))
}

async function showPage(
  context: Context,
  { request, grant }: Call<'repository'>,
  { name, contents }: { readonly name: WikiName; readonly contents: Contents },
) {
  const { text, sidebar, footer, history } = contents
  const texts = [text, ...[sidebar, footer].filter((part) => part !== undefined)]
  const drawn = await drawWritten(context, grant, { texts, headingsBelow: 2, isWiki: true })
  const [last] = history.commits
  const revisions = `${history.total} ${history.total === 1 ? 'revision' : 'revisions'}`
  const address = `${repositoryUrl(context, grant)}/wiki/${name.segment}`
  return htmlReply(
    request,
    <RepositoryDocument context={context} grant={grant} tab="wiki" title={name.title}>
      <h2>
        <Shown text={name.title} />
      </h2>
      <WikiLinks context={context} grant={grant} page={name} />
      {last !== undefined && (
        <p class="quiet">
          <Shown text={last.author.name} /> <Ago atMs={last.author.atMs} />{' '}
          <a href={`${address}/_history`}>{revisions}</a>
        </p>
      )}
      <Written text={text} drawn={drawn} />
      <Part label="Sidebar" text={sidebar} drawn={drawn} />
      <Part label="Footer" text={footer} drawn={drawn} />
    </RepositoryDocument>,
  )
}

interface PartProps {
  readonly label: string
  readonly text: string | undefined
  readonly drawn: WrittenTexts
}

function Part({ label, text, drawn }: PartProps): JSX.Element | null {
  if (text === undefined) return null
  return (
    <section aria-label={label}>
      <hr />
      <Written text={text} drawn={drawn} />
    </section>
  )
}

/** Links to the list and, for users who can write, to the forms. */
function WikiLinks({ context, grant, page }: OfWiki & { readonly page?: WikiName }): JSX.Element {
  const address = `${repositoryUrl(context, grant)}/wiki`
  const { isArchived, source } = grant.repository
  const mayWrite = atLeast(grant.modes.wiki, 'write') && !isArchived && source?.mirror === undefined
  return (
    <p>
      <a href={`${address}/_pages`}>All pages</a>
      {mayWrite && (
        <>
          {' · '}
          <a href={`${address}/_new`}>New page</a>
        </>
      )}
      {mayWrite && page !== undefined && (
        <>
          {' · '}
          <a href={`${address}/${page.segment}/_edit`}>Edit</a>
        </>
      )}
    </p>
  )
}

const list = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/wiki/_pages',
  access: ACCESS,
  async handle(context, { request, grant }) {
    const page = { page: pageNumber(request), limit: LISTED }
    const { entries, total } = await readWiki(context, { request, grant }, (wiki) =>
      listWikiPages(wiki, page),
    ).catch((error: unknown) => {
      if (!isFailure(error, 'not_found')) throw error
      return { entries: [] as readonly ListedPage[], total: 0 }
    })
    const address = `${repositoryUrl(context, grant)}/wiki`
    return htmlReply(
      request,
      <RepositoryDocument context={context} grant={grant} tab="wiki" title="Wiki pages">
        <h2>Pages</h2>
        <WikiLinks context={context} grant={grant} />
        {total === 0 && <p class="empty">There are no pages yet.</p>}
        <ul class="list">
          {entries.map(({ title, segment, lastCommit }) => (
            <li>
              <a class="strong grow" href={`${address}/${segment}`}>
                <Shown text={title} />
              </a>
              <Ago atMs={lastCommit.author.atMs} />
            </li>
          ))}
        </ul>
        <Pager address={`${address}/_pages`} page={page} total={total} />
      </RepositoryDocument>,
    )
  },
})

const history = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/wiki/{pageName}/_history',
  access: ACCESS,
  async handle(context, { request, grant }) {
    const page = { page: pageNumber(request), limit: REVISIONS_LISTED }
    const name = wikiNameOf(segmentIn(request, '_history'))
    const { commits, total } = await readWiki(context, { request, grant }, async (wiki) =>
      readWikiHistory(wiki, await requireWikiPage(wiki, name.segment), page),
    )
    const address = `${repositoryUrl(context, grant)}/wiki/${name.segment}`
    const title = `Revisions of ${name.title}`
    return htmlReply(
      request,
      <RepositoryDocument context={context} grant={grant} tab="wiki" title={title}>
        <h2>Revisions</h2>
        <p>
          <a class="strong" href={address}>
            <Shown text={name.title} />
          </a>
        </p>
        <form method="get" action={`${address}/_diff`}>
          <ul class="list">
            {commits.map((commit, at) => (
              <Revision
                commit={commit}
                isFrom={at === Math.min(1, commits.length - 1)}
                isTo={at === 0}
              />
            ))}
          </ul>
          <button type="submit">Compare the revisions</button>
        </form>
        <Pager address={`${address}/_history`} page={page} total={total} />
      </RepositoryDocument>,
    )
  },
})

interface RevisionProps {
  readonly commit: Commit
  /** True if the comparison is from this revision, unless the user selects another one. */
  readonly isFrom: boolean
  readonly isTo: boolean
}

function Revision({ commit, isFrom, isTo }: RevisionProps): JSX.Element {
  const { id, message, author } = commit
  const short = id.slice(0, 10)
  return (
    <li>
      <input
        type="radio"
        name="from"
        value={id}
        checked={isFrom}
        aria-label={`Compare from ${short}`}
      />
      <input type="radio" name="to" value={id} checked={isTo} aria-label={`to ${short}`} />
      <div class="grow">
        <span class="strong">
          <Shown text={firstLineOf(message)} />
        </span>
        <p class="quiet">
          <Shown text={author.name} /> <Ago atMs={author.atMs} />
        </p>
      </div>
      <code>{short}</code>
    </li>
  )
}

export const WIKI_PAGES = [front, list, one, history]
