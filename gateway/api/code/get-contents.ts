/** Files and folders of a revision over the API: one entry, or several files in one request. */

import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { isEmptyRepository } from '../../../cgi/repository/repository.js'
import { Failure, notFound } from '../../../conf/failures.js'
import { parseJsonText } from '../../../conf/lib/json-values.js'
import { type Caller, inQueue } from '../../actions/code/git-queue.js'
import {
  CONTENTS_BYTES_MAX,
  type GitReader,
  readGit,
  revisionOf,
} from '../../actions/code/git-reader.js'
import {
  CONTENTS_RESPONSE,
  type Contents,
  type ContentsObject,
  contentsObject,
} from '../../objects/code/contents-object.js'
import { nullable, omissible } from '../../objects/schema.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { PAGE_ENTRIES_DEFAULT } from '../paging.js'
import { jsonReply } from '../surface.js'
import { type Includes, readContents, readEntry } from './read-contents.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const REF_QUERY = Type.Object({
  ref: Type.Optional(
    Type.String({
      description: 'The name of the commit/branch/tag. Default to the repository’s default branch.',
    }),
  ),
})

const list = defineOperation({
  id: 'repoGetContentsList',
  method: 'GET',
  path: '/repos/{owner}/{repo}/contents',
  summary: 'Gets the metadata of all the entries of the root dir.',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: REF_QUERY,
  success: { status: 200, schema: Type.Array(CONTENTS_RESPONSE) },
  dependsOn: 'repository',
  failures: [404],
  async handle(context, { request, grant, query }) {
    if (!query.ref && (await isEmptyRepository(repositoryPathOf(context, grant.repository))))
      return jsonReply(200, [])
    return jsonReply(
      200,
      await contentsOf(context, { request, grant }, { path: '', ref: query.ref }),
    )
  },
})

const get = defineOperation({
  id: 'repoGetContents',
  method: 'GET',
  path: '/repos/{owner}/{repo}/contents/{filepath...}',
  summary:
    'Gets the metadata and contents (if a file) of an entry in a repository, or a list of entries if a dir.',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: {
    ...REPOSITORY_PARAMS,
    filepath: 'path of the dir, file, symlink or submodule in the repo',
  },
  query: REF_QUERY,
  success: { status: 200, schema: CONTENTS_RESPONSE },
  dependsOn: 'repository',
  failures: [404],
  async handle(context, { request, grant, params, query }) {
    const place = { path: params['filepath'] ?? '', ref: query.ref }
    return jsonReply(200, await contentsOf(context, { request, grant }, place))
  },
})

const getExtended = defineOperation({
  id: 'repoGetContentsExt',
  method: 'GET',
  path: '/repos/{owner}/{repo}/contents-ext/{filepath...}',
  summary: 'The extended "contents" API, to get file metadata and/or content, or list a directory.',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: {
    ...REPOSITORY_PARAMS,
    filepath: 'path of the dir, file, symlink or submodule in the repo',
  },
  query: Type.Object({
    ...REF_QUERY.properties,
    includes: Type.Optional(
      Type.String({
        description:
          'Fields besides the metadata, separated by commas: "file_content", "lfs_metadata", ' +
          '"commit_metadata" (always included) and "commit_message".',
      }),
    ),
  }),
  success: {
    status: 200,
    schema: Type.Object(
      {
        file_contents: omissible(CONTENTS_RESPONSE),
        dir_contents: omissible(Type.Array(CONTENTS_RESPONSE)),
      },
      { $id: 'ContentsExtResponse' },
    ),
  },
  dependsOn: 'repository',
  failures: [400, 404],
  async handle(context, { request, grant, params, query }) {
    const includes = readIncludes(query.includes ?? '')
    const path = params['filepath'] ?? ''
    const isEmpty = path === '' && !query.ref
    if (isEmpty && (await isEmptyRepository(repositoryPathOf(context, grant.repository))))
      return jsonReply(200, {})
    const place = { path, ref: query.ref, includes }
    const found = await contentsOf(context, { request, grant }, place)
    return jsonReply(200, Array.isArray(found) ? { dir_contents: found } : { file_contents: found })
  },
})

const INCLUDES = ['file_content', 'lfs_metadata', 'commit_metadata', 'commit_message']

/** Reads the list of additional fields. Throws `bad_request` for an unknown field. */
function readIncludes(text: string): Includes {
  const names = text.split(',').filter((name) => name !== '')
  const unknown = names.find((name) => !INCLUDES.includes(name))
  if (unknown !== undefined) {
    const known = `Use ${INCLUDES.join(', ')}.`
    throw new Failure('bad_request', `unknown include option "${unknown.slice(0, 100)}". ${known}`)
  }
  return {
    content: names.includes('file_content'),
    lfs: names.includes('lfs_metadata'),
    message: names.includes('commit_message'),
  }
}

const WHOLE: Includes = { content: true, lfs: true, message: false }

interface Place {
  readonly path: string
  readonly ref: string | undefined
  readonly includes?: Includes
}

/** Returns an object for a file, a link or a submodule, and an array for a folder. */
function contentsOf(
  context: Context,
  { request, grant }: Caller,
  { path, ref, includes = WHOLE }: Place,
): Promise<ContentsObject | readonly ContentsObject[]> {
  const { signal } = request
  return readGit(context, grant, async (reader) => {
    const revision = await revisionOf(reader, grant, ref)
    const contents = await readContents(reader, { revision, path, includes, signal })
    if (contents === undefined) throw notFound()
    const show = (one: Contents) => contentsObject(context, grant.repository, one)
    return isList(contents) ? contents.map(show) : show(contents)
  })
}

function isList(contents: Contents | readonly Contents[]): contents is readonly Contents[] {
  return Array.isArray(contents)
}

/** Maximum number of paths in a request; the reply has at most PAGE_ENTRIES_DEFAULT of them. */
const PATHS_MAX = 1_000

const GET_FILES_OPTIONS = Type.Object(
  { files: Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: PATHS_MAX }) },
  { $id: 'GetFilesOptions' },
)

const getSeveral = defineOperation({
  id: 'repoGetFileContents',
  method: 'GET',
  path: '/repos/{owner}/{repo}/file-contents',
  summary: 'Get the metadata and contents of requested files',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object({
    ...REF_QUERY.properties,
    body: Type.Optional(
      Type.String({
        description: 'The JSON encoded body of the POST request: {"files": ["name1", "name2"]}',
      }),
    ),
  }),
  success: { status: 200, schema: Type.Array(nullable(CONTENTS_RESPONSE)) },
  failures: [400, 404],
  async handle(context, { request, grant, query }) {
    const { files } = parseFiles(query.body ?? '')
    return jsonReply(200, await filesOf(context, { request, grant }, { ref: query.ref, files }))
  },
})

const getSeveralByPost = defineOperation({
  id: 'repoGetFileContentsPost',
  method: 'POST',
  path: '/repos/{owner}/{repo}/file-contents',
  summary: 'Get the metadata and contents of requested files',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', isSignedIn: true },
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: REF_QUERY,
  body: GET_FILES_OPTIONS,
  success: { status: 200, schema: Type.Array(nullable(CONTENTS_RESPONSE)) },
  failures: [404, 422],
  async handle(context, { request, grant, query, body }) {
    const wanted = { ref: query.ref, files: body.files }
    return jsonReply(200, await filesOf(context, { request, grant }, wanted))
  },
})

/** Reads the parameter of the query. Throws `bad_request` if it is not the JSON of such a body. */
function parseFiles(text: string): Static<typeof GET_FILES_OPTIONS> {
  const value = parseJson(text)
  if (Value.Check(GET_FILES_OPTIONS, value)) return value
  throw new Failure(
    'bad_request',
    `invalid body parameter: it must be JSON like {"files": ["README.md"]}, with up to ${PATHS_MAX} files`,
  )
}

function parseJson(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch {
    return undefined
  }
}

interface WantedFiles {
  readonly ref: string | undefined
  readonly files: readonly string[]
}

/**
 * Returns the first files, as many as a reply may have. A path without an entry is null, so that
 * clients find the objects by their place.
 */
function filesOf(
  context: Context,
  caller: Caller,
  { ref, files }: WantedFiles,
): Promise<readonly (ContentsObject | null)[]> {
  const { request, grant } = caller
  const read = async (reader: GitReader) => {
    const revision = await revisionOf(reader, grant, ref)
    const objects: (ContentsObject | null)[] = []
    let bytes = 0
    for (const path of files.slice(0, PAGE_ENTRIES_DEFAULT)) {
      const place = { revision, path, includes: WHOLE, signal: request.signal }
      const contents = await readEntry(reader, place)
      const object = contents && contentsObject(context, grant.repository, contents)
      bytes += object?.content?.length ?? 0
      if (bytes > CONTENTS_BYTES_MAX) break
      objects.push(object ?? null)
    }
    return objects
  }
  return inQueue(context, caller, () => readGit(context, grant, read))
}

export const CONTENTS_READING_OPERATIONS: readonly AnyOperation[] = [
  list,
  get,
  getExtended,
  getSeveral,
  getSeveralByPost,
]
