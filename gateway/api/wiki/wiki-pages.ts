/** Wiki pages over the API: list, read, create, edit, delete, revisions. */

import { type Static, Type } from 'typebox'
import { Failure, isFailure } from '../../../conf/failures.js'
import type { Request } from '../../../conf/http.js'
import type { Caller } from '../../actions/code/git-queue.js'
import { addWikiPage, editWikiPage, removeWikiPage } from '../../actions/wiki/change-wiki.js'
import {
  listWikiPages,
  readWiki,
  readWikiHistory,
  readWikiPage,
  readWikiPart,
  requireWikiPage,
} from '../../actions/wiki/read-wiki.js'
import {
  WIKI_COMMIT_LIST,
  WIKI_PAGE,
  WIKI_PAGE_META_DATA,
  wikiCommitObject,
  wikiMetaObject,
} from '../../objects/wiki/wiki-page-object.js'
import type { Context } from '../../request/context.js'
import { FILES_JSON_BYTES_MAX } from '../code/file-changes.js'
import { readContent } from '../code/file-options.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const PAGE_PARAMS = { ...REPOSITORY_PARAMS, pageName: 'name of the page' }
const READ = { kind: 'repository', mode: 'read', unit: 'wiki' } as const
const WRITE = { kind: 'repository', mode: 'write', unit: 'wiki', changesGit: true } as const

/** Number of revisions on a page, as in Gitea. */
const REVISIONS_LISTED = 50

const MESSAGE_CHARACTERS_MAX = 65_536
const TITLE_CHARACTERS_MAX = 255

const CREATE_WIKI_PAGE_OPTIONS = Type.Object(
  {
    title: Type.Optional(Type.String({ maxLength: TITLE_CHARACTERS_MAX })),
    content_base64: Type.Optional(Type.String()),
    message: Type.Optional(Type.String({ maxLength: MESSAGE_CHARACTERS_MAX })),
  },
  { $id: 'CreateWikiPageOptions' },
)

const create = defineOperation({
  id: 'repoCreateWikiPage',
  method: 'POST',
  path: '/repos/{owner}/{repo}/wiki/new',
  summary: 'Create a wiki page',
  tags: ['repository'],
  access: WRITE,
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: CREATE_WIKI_PAGE_OPTIONS,
  bodyBytesMax: FILES_JSON_BYTES_MAX,
  success: { status: 201, schema: WIKI_PAGE },
  failures: [400, 403, 404, 423],
  async handle(context, { request, grant, body }) {
    const caller = { request, grant }
    const { segment } = await addWikiPage(context, caller, inputOf(body))
    return jsonReply(201, await pageObject(context, caller, segment))
  },
})

const get = defineOperation({
  id: 'repoGetWikiPage',
  method: 'GET',
  path: '/repos/{owner}/{repo}/wiki/page/{pageName}',
  summary: 'Get a wiki page',
  tags: ['repository'],
  access: READ,
  scopes: ['read:repository'],
  params: PAGE_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: WIKI_PAGE },
  failures: [404],
  async handle(context, { request, grant }) {
    return jsonReply(200, await pageObject(context, { request, grant }, segmentOf(request)))
  },
})

const edit = defineOperation({
  id: 'repoEditWikiPage',
  method: 'PATCH',
  path: '/repos/{owner}/{repo}/wiki/page/{pageName}',
  summary: 'Edit a wiki page',
  tags: ['repository'],
  access: WRITE,
  scopes: ['write:repository'],
  params: PAGE_PARAMS,
  query: NO_QUERY,
  body: CREATE_WIKI_PAGE_OPTIONS,
  bodyBytesMax: FILES_JSON_BYTES_MAX,
  success: { status: 200, schema: WIKI_PAGE },
  failures: [400, 403, 404, 423],
  async handle(context, { request, grant, body }) {
    const caller = { request, grant }
    const input = { ...inputOf(body), segment: segmentOf(request) }
    const { segment } = await editWikiPage(context, caller, input)
    return jsonReply(200, await pageObject(context, caller, segment))
  },
})

const remove = defineOperation({
  id: 'repoDeleteWikiPage',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/wiki/page/{pageName}',
  summary: 'Delete a wiki page',
  tags: ['repository'],
  access: WRITE,
  scopes: ['write:repository'],
  params: PAGE_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle(context, { request, grant }) {
    await removeWikiPage(context, { request, grant }, segmentOf(request))
    return { status: 204 }
  },
})

const list = defineOperation({
  id: 'repoGetWikiPages',
  method: 'GET',
  path: '/repos/{owner}/{repo}/wiki/pages',
  summary: 'Get all wiki pages',
  tags: ['repository'],
  access: READ,
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(WIKI_PAGE_META_DATA) },
  failures: [404],
  async handle(context, { request, grant, query }) {
    const { repository } = grant
    const page = pageOf(query)
    const { entries, total } = await readWiki(context, { request, grant }, (wiki) =>
      listWikiPages(wiki, page),
    )
    const objects = entries.map((entry) => wikiMetaObject(context, repository, entry))
    const path = `/repos/${repository.owner.name}/${repository.name}/wiki/pages`
    return pageReply(context, objects, { path, page, total })
  },
})

const revisions = defineOperation({
  id: 'repoGetWikiPageRevisions',
  method: 'GET',
  path: '/repos/{owner}/{repo}/wiki/revisions/{pageName}',
  summary: 'Get revisions of a wiki page',
  tags: ['repository'],
  access: READ,
  scopes: ['read:repository'],
  params: PAGE_PARAMS,
  query: Type.Object({ page: PAGE_QUERY.page }),
  success: { status: 200, schema: WIKI_COMMIT_LIST },
  failures: [404],
  async handle(context, { request, grant, query }) {
    const page = { page: pageOf(query).page, limit: REVISIONS_LISTED }
    const { commits, total } = await readWiki(context, { request, grant }, async (wiki) =>
      readWikiHistory(wiki, await requireWikiPage(wiki, segmentOf(request)), page),
    )
    const object = { commits: commits.map(wikiCommitObject), count: total }
    return jsonReply(200, object, [['X-Total-Count', String(total)]])
  },
})

export const WIKI_OPERATIONS: readonly AnyOperation[] = [create, get, edit, remove, list, revisions]

/** Returns the page's path segment as it was sent, because `+` and `%2B` differ in it. */
function segmentOf({ path }: Request): string {
  return path.replace(/\/+$/, '').split('/').at(-1) ?? ''
}

/** Reads the body. Throws `bad_request` if the content is not base64. */
function inputOf(body: Static<typeof CREATE_WIKI_PAGE_OPTIONS>) {
  const { title = '', content_base64: content = '', message = '' } = body
  try {
    return { title, message, content: readContent(content) }
  } catch (error) {
    if (isFailure(error, 'invalid')) throw new Failure('bad_request', error.message)
    throw error
  }
}

/** Reads a page with its sidebar and footer. Throws `not_found` if there is none. */
function pageObject(context: Context, caller: Caller, segment: string) {
  return readWiki(context, caller, async (wiki) => {
    const found = await requireWikiPage(wiki, segment)
    const part = async (name: '_Sidebar' | '_Footer') =>
      (await readWikiPart(wiki, name))?.toString('base64') ?? ''
    const { commits, total } = await readWikiHistory(wiki, found, { page: 1, limit: 1 })
    const [lastCommit] = commits
    if (lastCommit === undefined) throw new Error(`no commit has the wiki page ${found.file}`)
    return {
      ...wikiMetaObject(context, caller.grant.repository, { ...found, lastCommit }),
      content_base64: (await readWikiPage(wiki, found)).toString('base64'),
      commit_count: total,
      sidebar: await part('_Sidebar'),
      footer: await part('_Footer'),
    }
  })
}
