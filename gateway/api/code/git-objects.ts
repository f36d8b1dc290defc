/** Git objects over the API: trees, blobs and refs. */

import { type Static, Type } from 'typebox'
import { readTree, type TreeEntry } from '../../../cgi/objects/tree.js'
import { type ListedEntry, listTree, type TreeListing } from '../../../cgi/objects/tree-listing.js'
import { allReferences } from '../../../cgi/refs/known-references.js'
import { type Reference, VISIBLE_REFERENCES } from '../../../cgi/refs/list-references.js'
import { findObject, findRevision } from '../../../cgi/refs/revision.js'
import { Failure, notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { type Caller, inQueue } from '../../actions/code/git-queue.js'
import {
  type GitReader,
  type RepositoryGrant,
  readBlob,
  readGit,
  TREE_ENTRIES_MAX,
} from '../../actions/code/git-reader.js'
import { pointerIn } from '../../actions/code/lfs-pointer.js'
import { addressesOf } from '../../objects/code/commit-json.js'
import { escapePath, lfsFields } from '../../objects/code/contents-object.js'
import { nullable, omissible } from '../../objects/schema.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const GIT_ENTRY = Type.Object(
  {
    path: Type.String(),
    mode: Type.String(),
    type: Type.String(),
    size: Type.Integer(),
    sha: Type.String(),
    url: Type.String(),
  },
  { $id: 'GitEntry' },
)

const GIT_TREE_RESPONSE = Type.Object(
  {
    sha: Type.String(),
    url: Type.String(),
    tree: Type.Array(GIT_ENTRY),
    truncated: Type.Boolean(),
    page: Type.Integer(),
    total_count: Type.Integer(),
  },
  { $id: 'GitTreeResponse' },
)

/** Maximum number of tree entries on one page, and the default. */
const TREE_PAGE_ENTRIES_MAX = 1_000

const getTree = defineOperation({
  id: 'GetTree',
  method: 'GET',
  path: '/repos/{owner}/{repo}/git/trees/{sha}',
  summary: 'Gets the tree of a repository.',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: { ...REPOSITORY_PARAMS, sha: 'sha of the commit' },
  query: Type.Object({
    recursive: Type.Optional(Type.Boolean({ description: 'show all directories and files' })),
    page: Type.Optional(
      Type.Integer({
        description:
          "page number; the 'truncated' field in the response will be true if there are still more items after this page, false if the last page",
      }),
    ),
    per_page: Type.Optional(Type.Integer({ description: 'number of items per page' })),
  }),
  success: { status: 200, schema: GIT_TREE_RESPONSE },
  dependsOn: 'repository',
  failures: [400, 404, 413],
  handle: (context, { request, grant, params, query }) =>
    readGit(context, grant, async (reader) => {
      const treeId = await treeNamed(reader, params['sha'] ?? '')
      const { per_page: asked = 0 } = query
      const limit = asked <= 0 ? TREE_PAGE_ENTRIES_MAX : Math.min(asked, TREE_PAGE_ENTRIES_MAX)
      const page = Math.max(1, query.page ?? 1)
      const listing = query.recursive
        ? await listAll(context, { request, grant }, { reader, treeId })
        : await listFolder(reader, treeId)
      const from = (page - 1) * limit
      const shown = listing.entries(from, from + limit)
      const { repository } = grant
      const { api } = addressesOf(context, repository)
      const object = {
        sha: treeId,
        url: `${api}/git/trees/${treeId}`,
        page,
        tree: await describeEntries(reader, { api, entries: shown, signal: request.signal }),
        truncated: listing.isCut || from + shown.length < listing.count,
        total_count: listing.count,
      }
      const asText = encodeURIComponent(params['sha'] ?? '')
      return pageReply(context, object.tree, {
        path: `/repos/${repository.owner.name}/${repository.name}/git/trees/${asText}`,
        query: { recursive: query.recursive ? 'true' : undefined },
        page: { page, limit },
        limitName: 'per_page',
        total: listing.count,
        wrap: () => object,
      })
    }),
})

/** Returns the id of a tree, which `text` names by its id or by a commit. Throws `not_found`. */
async function treeNamed({ objects }: GitReader, text: string): Promise<string> {
  const revision = await findRevision(objects, text)
  const found =
    revision === undefined
      ? await findObject(objects, text)
      : await objects.read(`${revision.commitId}^{tree}`)
  if (found?.type !== 'tree') throw notFound()
  return found.id
}

function listAll(
  context: Context,
  caller: Caller,
  { reader: { git, path }, treeId }: { readonly reader: GitReader; readonly treeId: string },
) {
  const { signal } = caller.request
  const input = { entriesMax: TREE_ENTRIES_MAX, signal }
  return inQueue(context, caller, () => listTree(git, path, treeId, input))
}

async function listFolder({ objects }: GitReader, treeId: string): Promise<TreeListing> {
  const all = (await readTree(objects, treeId)).map(listed)
  return { count: all.length, isCut: false, entries: (from, to) => all.slice(from, to) }
}

function listed({ name, ...entry }: TreeEntry): ListedEntry {
  return { ...entry, path: name }
}

const TYPES = { file: 'blob', symlink: 'blob', directory: 'tree', submodule: 'commit' } as const

async function describeEntries(
  { objects }: GitReader,
  {
    api,
    entries,
    signal,
  }: {
    readonly api: string
    readonly entries: readonly ListedEntry[]
    readonly signal: AbortSignal
  },
): Promise<Static<typeof GIT_ENTRY>[]> {
  const files = entries.filter(({ kind }) => TYPES[kind] === 'blob').map(({ id }) => id)
  const sizes = await objects.readSizes(files, signal)
  return entries.map(({ mode, kind, id, path }) => ({
    path,
    mode,
    type: TYPES[kind],
    size: sizes.get(id) ?? 0,
    sha: id,
    url: kind === 'submodule' ? '' : `${api}/git/${TYPES[kind]}s/${id}`,
  }))
}

const GIT_BLOB_RESPONSE = Type.Object(
  {
    content: nullable(Type.String()),
    encoding: nullable(Type.String()),
    url: Type.String(),
    sha: Type.String(),
    size: Type.Integer(),
    lfs_oid: omissible(Type.String()),
    lfs_size: omissible(Type.Integer()),
  },
  { $id: 'GitBlobResponse' },
)

const getBlob = defineOperation({
  id: 'GetBlob',
  method: 'GET',
  path: '/repos/{owner}/{repo}/git/blobs/{sha}',
  summary: 'Gets the blob of a repository.',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: { ...REPOSITORY_PARAMS, sha: 'sha of the commit' },
  query: NO_QUERY,
  success: { status: 200, schema: GIT_BLOB_RESPONSE },
  failures: [400, 404],
  handle: (context, { request: { signal }, grant, params }) =>
    readGit(context, grant, async (reader) => {
      const id = (params['sha'] ?? '').toLowerCase()
      if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id)) {
        throw new Failure('bad_request', 'sha is not the full id of an object')
      }
      const blob = await readBlob(reader, id, signal)
      if (blob === undefined) throw notFound()
      const { content, sizeBytes } = blob
      return jsonReply(200, {
        content: content?.toString('base64') ?? null,
        encoding: content === undefined ? null : 'base64',
        url: `${addressesOf(context, grant.repository).api}/git/blobs/${id}`,
        sha: id,
        size: sizeBytes,
        ...lfsFields(pointerIn(content)),
      })
    }),
})

const GIT_OBJECT = Type.Object(
  { type: Type.String(), url: Type.String(), sha: Type.String() },
  { $id: 'GitObject' },
)

const REFERENCE = Type.Object(
  { ref: Type.String(), url: Type.String(), object: GIT_OBJECT },
  { $id: 'Reference' },
)

const listReferencesOperation = defineOperation({
  id: 'repoListAllGitRefs',
  method: 'GET',
  path: '/repos/{owner}/{repo}/git/refs',
  summary: "Get specified ref or filtered repository's refs",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(REFERENCE) },
  dependsOn: 'repository',
  failures: [404],
  handle: (context, { request, grant }) => answerReferences(context, { request, grant }, 'refs/'),
})

const listSomeReferences = defineOperation({
  id: 'repoListGitRefs',
  method: 'GET',
  path: '/repos/{owner}/{repo}/git/refs/{ref...}',
  summary: "Get specified ref or filtered repository's refs",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: { ...REPOSITORY_PARAMS, ref: 'part or full name of the ref' },
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(REFERENCE) },
  dependsOn: 'repository',
  failures: [404],
  handle: (context, { request, grant, params }) =>
    answerReferences(context, { request, grant }, `refs/${params['ref']}`),
})

/**
 * Returns the refs whose names begin with `prefix`. Git lists all visible refs and they are
 * filtered here, so the caller's text is not passed to git.
 */
async function answerReferences(
  context: Context,
  { request: { signal }, grant }: Caller,
  prefix: string,
): Promise<Reply> {
  const path = repositoryPathOf(context, grant.repository)
  const input = { namespaces: VISIBLE_REFERENCES, signal }
  const all = await allReferences(context.git, path, input)
  const entries = all.filter(({ name }) => name.startsWith(prefix))
  if (entries.length === 0) throw notFound('unable to find a git ref')
  return jsonReply(
    200,
    entries.map((entry) => referenceObject(context, grant, entry)),
  )
}

function referenceObject(
  context: Context,
  { repository }: RepositoryGrant,
  { name, id, type }: Reference,
): Static<typeof REFERENCE> {
  const { api } = addressesOf(context, repository)
  return {
    ref: name,
    url: `${api}/git/${escapePath(name)}`,
    object: { type, sha: id, url: `${api}/git/${type}s/${id}` },
  }
}

export const GIT_OBJECT_OPERATIONS: readonly AnyOperation[] = [
  getTree,
  getBlob,
  listReferencesOperation,
  listSomeReferences,
]
