/** Contents of a pull request over the API: commits, changed files, and diff or patches. */

import { Type } from 'typebox'
import { listChangedFiles, type Whitespace } from '../../../cgi/objects/diff.js'
import type { Reply } from '../../../conf/http.js'
import type { Page } from '../../../sql/database/page.js'
import { inQueue } from '../../actions/code/git-queue.js'
import { readGit, readRange } from '../../actions/code/git-reader.js'
import { pullOf, rangeOf } from '../../actions/pulls/find-pull.js'
import { pullTextReply } from '../../actions/pulls/pull-text.js'
import { CHANGED_FILE, changedFileObject } from '../../objects/code/changed-file-object.js'
import { COMMIT } from '../../objects/code/commit-schema.js'
import { FILE } from '../../objects/schema.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { withDetails } from '../code/get-commits.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { PULL_PARAMS } from './pull-access.js'

const download = defineOperation({
  id: 'repoDownloadPullDiffOrPatch',
  method: 'GET',
  path: '/repos/{owner}/{repo}/pulls/{index}.{diffType:diff|patch}',
  summary: 'Get a pull request diff or patch',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests' },
  scopes: ['read:repository'],
  params: { ...PULL_PARAMS, diffType: 'whether the output is diff or patch' },
  query: Type.Object({
    binary: Type.Optional(Type.Boolean({ description: 'whether to include binary file changes' })),
  }),
  success: { status: 200, schema: FILE },
  failures: [404, 413],
  handle: (context, call) =>
    pullTextReply(context, call, { hasBinary: call.query.binary ?? false }),
})

const commits = defineOperation({
  id: 'repoGetPullRequestCommits',
  method: 'GET',
  path: '/repos/{owner}/{repo}/pulls/{index}/commits',
  summary: 'Get commits for a pull request',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests' },
  scopes: ['read:repository'],
  params: PULL_PARAMS,
  query: Type.Object({
    ...PAGE_QUERY,
    verification: Type.Optional(
      Type.Boolean({ description: 'include verification for every commit (default true)' }),
    ),
    files: Type.Optional(
      Type.Boolean({ description: 'include a list of affected files (default true)' }),
    ),
  }),
  success: { status: 200, schema: Type.Array(COMMIT) },
  failures: [404],
  async handle(context, { request, grant, params, query }) {
    const { issue, ...state } = await pullOf(context, grant, params)
    const page = pageOf(query)
    const { signal } = request
    const { objects, total } = await inQueue(context, { request, grant }, () =>
      readGit(context, grant, async (reader) => {
        const { commits: list, total } = await readRange(reader, rangeOf(state), page)
        const { files, verification } = query
        const details = { files, verification, signal }
        const objects = await withDetails(context, grant, { reader, commits: list, details })
        return { objects, total }
      }),
    )
    const { repository } = grant
    const place = `/repos/${repository.owner.name}/${repository.name}/pulls/${issue.number}/commits`
    return withPageHeaders(pageReply(context, objects, { path: place, page, total }), page, total)
  },
})

const files = defineOperation({
  id: 'repoGetPullRequestFiles',
  method: 'GET',
  path: '/repos/{owner}/{repo}/pulls/{index}/files',
  summary: 'Get changed files for a pull request',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests' },
  scopes: ['read:repository'],
  params: PULL_PARAMS,
  query: Type.Object({
    'skip-to': Type.Optional(Type.String({ description: 'skip to given file' })),
    whitespace: Type.Optional(
      Type.String({ description: 'ignore-all, ignore-change, ignore-eol or show-all' }),
    ),
    ...PAGE_QUERY,
  }),
  success: { status: 200, schema: Type.Array(CHANGED_FILE) },
  failures: [404, 413],
  async handle(context, { request, grant, params, query }) {
    const { issue, ...state } = await pullOf(context, grant, params)
    const page = pageOf(query)
    const range = rangeOf(state)
    const whitespace = WHITESPACES.find((word) => word === query.whitespace) ?? 'show-all'
    const all = await inQueue(context, { request, grant }, () =>
      listChangedFiles(context.git, repositoryPathOf(context, grant.repository), {
        ...range,
        whitespace,
      }),
    )
    const first = Math.max(
      0,
      all.findIndex((file) => file.path === query['skip-to']),
    )
    const listed = all.slice(first)
    const start = (page.page - 1) * page.limit
    const objects = listed
      .slice(start, start + page.limit)
      .map((file) => changedFileObject(context, grant.repository, { file, commitId: range.to }))
    const { repository } = grant
    const path = `/repos/${repository.owner.name}/${repository.name}/pulls/${issue.number}/files`
    const { whitespace: wanted, 'skip-to': skipTo } = query
    const asked = { whitespace: wanted, 'skip-to': skipTo }
    const total = listed.length
    return withPageHeaders(
      pageReply(context, objects, { path, query: asked, page, total }),
      page,
      total,
    )
  },
})

const WHITESPACES: readonly Whitespace[] = ['show-all', 'ignore-all', 'ignore-change', 'ignore-eol']

/** Adds the older page headers, which some clients read on these two lists. */
function withPageHeaders(reply: Reply, page: Page, total: number): Reply {
  const count = Math.ceil(total / page.limit)
  return {
    ...reply,
    headers: [
      ...(reply.headers ?? []),
      ['X-Page', String(page.page)],
      ['X-PerPage', String(page.limit)],
      ['X-Total', String(total)],
      ['X-PageCount', String(count)],
      ['X-HasMore', String(page.page < count)],
    ],
  }
}

export const PULL_CONTENT_OPERATIONS: readonly AnyOperation[] = [download, commits, files]
