/** Content of files over the API, and at the web URLs that `download_url` contains. */

import { Type } from 'typebox'
import { decodePercent, type Reply } from '../../../conf/http.js'
import { wikiOf } from '../../../sql/repositories/wikis.js'
import type { Caller } from '../../actions/code/git-queue.js'
import { type GitReader, readGit } from '../../actions/code/git-reader.js'
import { findWikiBranch } from '../../actions/wiki/read-wiki.js'
import { requireWiki } from '../../actions/wiki/wiki-folder.js'
import { FILE } from '../../objects/schema.js'
import type { Context } from '../../request/context.js'
import type { AnyRoute, Route } from '../../request/route.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { DOWNLOAD_SURFACE } from '../surface.js'
import { findFile, type SentFile, sendFile } from './file-reply.js'

const REF_QUERY = Type.Object({
  ref: Type.Optional(
    Type.String({
      description: 'The name of the commit/branch/tag. Default to the repository’s default branch.',
    }),
  ),
})

function rawOperation(id: string, path: 'raw' | 'media', summary: string): AnyOperation {
  return defineOperation({
    id,
    method: 'GET',
    path: `/repos/{owner}/{repo}/${path}/{filepath...}`,
    summary,
    tags: ['repository'],
    access: { kind: 'repository', mode: 'read' },
    scopes: ['read:repository'],
    params: {
      owner: 'owner of the repo',
      repo: 'name of the repo',
      filepath: 'path of the file to get',
    },
    query: REF_QUERY,
    success: { status: 200, schema: FILE },
    failures: [404],
    handle: (context, { request, grant, params, query }) =>
      answer(
        context,
        { request, grant },
        { path: params['filepath'] ?? '', ref: query.ref, isMedia: path === 'media' },
      ),
  })
}

interface Wanted {
  readonly path: string
  readonly ref?: string | undefined
  /** True to send objects of Git LFS in place of their pointers. */
  readonly isMedia: boolean
}

function answer(context: Context, caller: Caller, { path, ref, isMedia }: Wanted): Promise<Reply> {
  const { repository } = caller.grant
  return readGit(context, caller.grant, async (reader) => {
    const file = ref
      ? await findFile(reader, ref, path)
      : ((await findInPath(reader, path)) ??
        (await findFile(reader, `refs/heads/${repository.defaultBranch}`, path)))
    return sendFile(context, caller, { reader, file, isMedia })
  })
}

/** Maximum number of leading path segments that are tried as the name of a revision. */
const SEGMENTS_MAX = 20

/**
 * Finds the file of `{ref}/{path}`, which older clients send. The longest revision name whose tree
 * contains the rest of the path wins.
 */
async function findInPath(reader: GitReader, text: string): Promise<SentFile | undefined> {
  const segments = text.split('/')
  const last = Math.min(segments.length - 1, SEGMENTS_MAX)
  for (let count = last; count > 0; count -= 1) {
    const revision = segments.slice(0, count).join('/')
    const file = await findFile(reader, revision, segments.slice(count).join('/'))
    if (file !== undefined) return file
  }
  return undefined
}

export const RAW_OPERATIONS: readonly AnyOperation[] = [
  rawOperation('repoGetRawFile', 'raw', 'Get a file from a repository'),
  rawOperation('repoGetRawFileOrLFS', 'media', "Get a file or it's LFS object from a repository"),
]

/** Prefixes of refs by the segment of the URL that names the kind of revision. */
const PREFIXES: Readonly<Record<string, string>> = { branch: 'refs/heads/', tag: 'refs/tags/' }

/** Returns the route of the web URL of a file: `/{owner}/{repo}/raw/branch/main/README.md`. */
function webRoute(folder: 'raw' | 'media'): Route<'repository'> {
  return {
    surface: DOWNLOAD_SURFACE,
    method: 'GET',
    path: `/{owner}/{repo}/${folder}/{filepath...}`,
    access: { kind: 'repository', mode: 'read' },
    scopes: ['read:repository'],
    handle: (context, { request, grant, params }) =>
      readGit(context, grant, async (reader) => {
        const text = (params['filepath'] ?? '').split('/').map(decodePercent).join('/')
        const [kind = '', ...rest] = text.split('/')
        const prefix = PREFIXES[kind]
        const file =
          prefix === undefined
            ? await findInPath(reader, kind === 'commit' ? rest.join('/') : text)
            : await findRefByKind(reader, prefix, rest)
        const isMedia = folder === 'media'
        return sendFile(context, { request, grant }, { reader, file, isMedia })
      }),
  }
}

async function findRefByKind(
  reader: GitReader,
  prefix: string,
  segments: readonly string[],
): Promise<SentFile | undefined> {
  const last = Math.min(segments.length - 1, SEGMENTS_MAX)
  for (let count = last; count > 0; count -= 1) {
    const revision = prefix + segments.slice(0, count).join('/')
    const file = await findFile(reader, revision, segments.slice(count).join('/'))
    if (file !== undefined) return file
  }
  return undefined
}

/** Route of a file in the wiki, such as a picture on a page. */
const wikiRaw: Route<'repository'> = {
  surface: DOWNLOAD_SURFACE,
  method: 'GET',
  path: '/{owner}/{repo}/wiki/raw/{filepath...}',
  access: { kind: 'repository', mode: 'read', unit: 'wiki' },
  scopes: ['read:repository'],
  async handle(context, { request, grant, params }) {
    const repository = wikiOf(grant.repository)
    await requireWiki(context, repository)
    const caller = { request, grant: { ...grant, repository } }
    return await readGit(context, caller.grant, async (reader) => {
      const path = (params['filepath'] ?? '').split('/').map(decodePercent).join('/')
      const file = await findFile(reader, `refs/heads/${await findWikiBranch(reader)}`, path)
      return sendFile(context, caller, { reader, file })
    })
  },
}

export const WEB_RAW_ROUTES: readonly AnyRoute[] = [webRoute('raw'), webRoute('media'), wikiRaw]
