/** Downloads that git generates while they are sent: archives, and commits as diff or patch. */

import { archiveWords, streamArchive, streamCommit } from '../../../cgi/objects/archive.js'
import { isBounded } from '../../../cgi/objects/commit-changes.js'
import { findRevision } from '../../../cgi/refs/revision.js'
import { Failure, notFound } from '../../../conf/failures.js'
import { decodePercent, type Reply } from '../../../conf/http.js'
import type { Caller } from '../../actions/code/git-queue.js'
import { readCommit, readGit } from '../../actions/code/git-reader.js'
import { sendStored, streamInQueue } from '../../actions/code/git-stream.js'
import { addressesOf } from '../../objects/code/commit-json.js'
import { FILE } from '../../objects/schema.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import type { AnyRoute, Route } from '../../request/route.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { DOWNLOAD_SURFACE } from '../surface.js'
import { disposition, SAFE_HEADERS } from './file-reply.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const getArchive = defineOperation({
  id: 'repoGetArchive',
  method: 'GET',
  path: '/repos/{owner}/{repo}/archive/{archive...}',
  summary: 'Get an archive of a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', isDownload: true },
  scopes: ['read:repository'],
  params: {
    ...REPOSITORY_PARAMS,
    archive: 'the git reference for download with attached archive format (e.g. master.zip)',
  },
  query: NO_QUERY,
  success: { status: 200, schema: FILE },
  failures: [404, 413],
  handle: (context, { request, grant, params }) =>
    sendArchive(context, { request, grant }, params['archive'] ?? ''),
})

const CONTENT_TYPES = { zip: 'application/zip', 'tar.gz': 'application/gzip' } as const

/** Returns a reply with the archive `{ref}.zip` or `{ref}.tar.gz`. Throws `not_found`. */
async function sendArchive(context: Context, caller: Caller, text: string): Promise<Reply> {
  const { grant, request } = caller
  const { repository } = grant
  const [, name = '', format = ''] = /^(.+)\.(zip|tar\.gz)$/s.exec(text) ?? []
  if (format !== 'zip' && format !== 'tar.gz') throw notFound()
  const found = await readGit(context, grant, ({ objects }) => findRevision(objects, name))
  if (found === undefined) throw notFound()
  const { commitId } = found
  const { html } = addressesOf(context, repository)
  const rev = encodeURIComponent(name)
  const headers = [
    ...SAFE_HEADERS,
    ['Content-Type', CONTENT_TYPES[format]],
    [
      'Content-Disposition',
      disposition('attachment', `${repository.name}-${name.replaceAll('/', '-')}.${format}`),
    ],
    ['Link', `<${html}/archive/${commitId}.${format}?rev=${rev}>; rel="immutable"`],
  ] as const
  if (request.method === 'HEAD') return { status: 200, headers }
  const repositoryPath = repositoryPathOf(context, repository)
  const folder = repository.name.toLowerCase()
  const archive = { commitId, format, folder } as const
  const stored = await sendStored(context, repositoryPath, {
    words: () => archiveWords(repositoryPath, archive),
    make: () =>
      streamInQueue(context, caller, (bounds) =>
        streamArchive(context.git, repositoryPath, { ...archive, ...bounds }),
      ),
  })
  return { status: 200, headers, ...stored }
}

const getDiff = defineOperation({
  id: 'repoDownloadCommitDiffOrPatch',
  method: 'GET',
  path: '/repos/{owner}/{repo}/git/commits/{sha}.{diffType:diff|patch}',
  summary: "Get a commit's diff or patch",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: {
    ...REPOSITORY_PARAMS,
    sha: 'SHA of the commit to get',
    diffType: 'whether the output is diff or patch',
  },
  query: NO_QUERY,
  success: { status: 200, schema: FILE },
  failures: [404, 413],
  async handle(context, { request, grant, params }) {
    const { commitId, isSmall } = await readGit(context, grant, async (reader) => {
      const revision = await findRevision(reader.objects, params['sha'] ?? '')
      if (revision === undefined) throw notFound()
      const commit = await readCommit(reader, revision.commitId)
      return { commitId: commit.id, isSmall: await isBounded(reader.objects, commit) }
    })
    // Git holds all paths of a diff in memory before it writes the first.
    if (!isSmall)
      throw new Failure('payload_too_large', 'The commit changes too many files for a diff.')
    const format = params['diffType'] === 'patch' ? 'patch' : 'diff'
    const headers = [...SAFE_HEADERS, ['Content-Type', 'text/plain; charset=utf-8']] as const
    if (request.method === 'HEAD') return { status: 200, headers }
    const body = await streamInQueue(context, { request, grant }, async (bounds) =>
      streamCommit(context.git, repositoryPathOf(context, grant.repository), {
        commitId,
        format,
        ...bounds,
      }),
    )
    return { status: 200, headers, body }
  },
})

export const ARCHIVE_OPERATIONS: readonly AnyOperation[] = [getArchive, getDiff]

/** Route of the web URL of archives, which tags and releases contain. */
const webArchive: Route<'repository'> = {
  surface: DOWNLOAD_SURFACE,
  method: 'GET',
  path: '/{owner}/{repo}/archive/{archive...}',
  access: { kind: 'repository', mode: 'read', isDownload: true },
  scopes: ['read:repository'],
  handle: (context, { request, grant, params }) =>
    sendArchive(context, { request, grant }, decodePercent(params['archive'] ?? '')),
}

export const WEB_ARCHIVE_ROUTES: readonly AnyRoute[] = [webArchive]
