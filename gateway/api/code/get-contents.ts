/** Files and folders over the API: the entry at a path of a revision. */

import { Type } from 'typebox'
import { lastCommitOf } from '../../../cgi/objects/history.js'
import { lastCommits } from '../../../cgi/objects/last-commits.js'
import { parseModules } from '../../../cgi/objects/modules-file.js'
import { findEntry, pathSegments, readTree, type TreeEntry } from '../../../cgi/objects/tree.js'
import type { Revision } from '../../../cgi/refs/revision.js'
import { isEmptyRepository } from '../../../cgi/repository/repository.js'
import { notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import type { Caller } from '../../actions/code/git-queue.js'
import { type GitReader, readBlob, readGit, revisionOf } from '../../actions/code/git-reader.js'
import {
  CONTENTS_RESPONSE,
  type Contents,
  contentsObject,
} from '../../objects/code/contents-object.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { jsonReply } from '../surface.js'

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
  failures: [404],
  async handle(context, { request, grant, query }) {
    if (!query.ref && (await isEmptyRepository(repositoryPathOf(context, grant.repository))))
      return jsonReply(200, [])
    return answer(context, { request, grant }, { path: '', ref: query.ref })
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
  failures: [404],
  handle: (context, { request, grant, params, query }) =>
    answer(context, { request, grant }, { path: params['filepath'] ?? '', ref: query.ref }),
})

interface Place {
  readonly path: string
  readonly ref: string | undefined
}

/** Returns an object for a file, a link or a submodule, and an array for a folder. */
function answer(context: Context, caller: Caller, { path, ref }: Place): Promise<Reply> {
  const { grant, request } = caller
  const { signal } = request
  return readGit(context, grant, async (reader) => {
    const segments = pathSegments(path)
    if (segments === undefined) throw notFound()
    const revision = await revisionOf(reader, grant, ref)
    const tree = await reader.objects.read(`${revision.commitId}^{tree}`)
    const entry = tree && (await findEntry(reader.objects, tree.id, segments))
    if (entry === undefined) throw notFound()
    const file = segments.join('/')
    const top = { treeId: tree?.id ?? '', revision, signal }
    const contents =
      entry.kind === 'directory'
        ? await readFolder(reader, { ...top, folder: file, entry })
        : await readOne(reader, { ...top, file, entry })
    const show = (one: Contents) => contentsObject(context, grant.repository, one)
    return jsonReply(200, Array.isArray(contents) ? contents.map(show) : show(contents as Contents))
  })
}

interface Top {
  /** Id of the revision's root tree. */
  readonly treeId: string
  readonly revision: Revision
  readonly signal: AbortSignal
}

async function readOne(
  reader: GitReader,
  { file, entry, ...top }: Top & { readonly file: string; readonly entry: TreeEntry },
): Promise<Contents> {
  const { revision, signal } = top
  const isSubmodule = entry.kind === 'submodule'
  const [blob, modules, lastCommitId] = await Promise.all([
    isSubmodule ? undefined : readBlob(reader, entry.id, signal),
    isSubmodule ? readModules(reader, top.treeId) : undefined,
    lastCommitOf(reader, { from: revision.commitId, file, signal }),
  ])
  return {
    revision,
    entry,
    lastCommitId,
    path: file,
    sizeBytes: blob?.sizeBytes ?? 0,
    content: blob?.content,
    submoduleUrl: modules?.get(file),
  }
}

/** Maximum length of a symbolic link's target in bytes; longer ones are not read. */
const LINK_BYTES_MAX = 4_096

async function readFolder(
  reader: GitReader,
  { folder, entry, ...top }: Top & { readonly folder: string; readonly entry: TreeEntry },
): Promise<Contents[]> {
  const { objects } = reader
  const { revision, signal, treeId } = top
  const way = pathSegments(folder) ?? []
  const entries = await readTree(objects, entry.id)
  const blobs = entries.filter(({ kind }) => kind === 'file' || kind === 'symlink')
  const ids = blobs.map(({ id }) => id)
  const names = new Set(entries.map(({ name }) => name))
  const hasModules = entries.some(({ kind }) => kind === 'submodule')
  const [sizes, commits, modules] = await Promise.all([
    objects.readSizes(ids, signal),
    lastCommits(reader, { from: revision.commitId, folder: way, names, isWhole: true, signal }),
    hasModules ? readModules(reader, treeId) : undefined,
  ])
  return Promise.all(
    entries.map(async (entry): Promise<Contents> => {
      const file = folder === '' ? entry.name : `${folder}/${entry.name}`
      const sizeBytes = sizes.get(entry.id) ?? 0
      const isLink = entry.kind === 'symlink' && sizeBytes <= LINK_BYTES_MAX
      return {
        revision,
        entry,
        sizeBytes,
        path: file,
        lastCommitId: commits.get(entry.name),
        content: isLink ? (await objects.read(entry.id))?.content : undefined,
        submoduleUrl: modules?.get(file),
      }
    }),
  )
}

const MODULES_BYTES_MAX = 1_048_576

async function readModules(
  { objects }: GitReader,
  treeId: string,
): Promise<ReadonlyMap<string, string>> {
  const entry = await findEntry(objects, treeId, ['.gitmodules'])
  const blob = entry?.kind === 'file' ? await objects.read(entry.id, MODULES_BYTES_MAX) : undefined
  return parseModules(blob?.content?.toString() ?? '')
}

export const CONTENTS_READING_OPERATIONS: readonly AnyOperation[] = [list, get]
