/** Commits over the API: the history in pages, one commit, and its note. */

import { Type } from 'typebox'
import { readChanges } from '../../../cgi/objects/commit-changes.js'
import type { Commit } from '../../../cgi/objects/commit-object.js'
import { type HistoryInput, lastCommitOf, pageOfHistory } from '../../../cgi/objects/history.js'
import { pathSegments, readTree } from '../../../cgi/objects/tree.js'
import { findRevision } from '../../../cgi/refs/revision.js'
import { isEmptyRepository } from '../../../cgi/repository/repository.js'
import { Failure, notFound } from '../../../conf/failures.js'
import { offsetOf } from '../../../sql/database/page.js'
import { type Caller, inQueue } from '../../actions/code/git-queue.js'
import {
  type GitReader,
  type RepositoryGrant,
  readCommit,
  readCommits,
  readGit,
  revisionOf,
} from '../../actions/code/git-reader.js'
import { commitObjects } from '../../objects/code/commit-json.js'
import { COMMIT, type CommitObject } from '../../objects/code/commit-schema.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { PAGE_QUERY, pageHeaders, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const flag = (what: string) =>
  Type.Optional(Type.Boolean({ description: `${what} (disable for speedup, default 'true')` }))

/** Query parameters that select the details of commits. */
const VERIFICATION_QUERY = { verification: flag('include verification for every commit') }
const FILES_QUERY = { files: flag('include a list of affected files for every commit') }
const DETAILS_QUERY = {
  stat: flag('include diff stats for every commit'),
  ...VERIFICATION_QUERY,
  ...FILES_QUERY,
}

interface Details {
  readonly stat?: boolean | undefined
  readonly verification?: boolean | undefined
  readonly files?: boolean | undefined
}

const list = defineOperation({
  id: 'repoGetAllCommits',
  method: 'GET',
  path: '/repos/{owner}/{repo}/commits',
  summary: 'Get a list of all commits from a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object({
    sha: Type.Optional(
      Type.String({
        description: 'SHA or branch to start listing commits from (usually the default branch)',
      }),
    ),
    path: Type.Optional(Type.String({ description: 'filepath of a file/dir' })),
    since: Type.Optional(
      Type.String({ format: 'date-time', description: 'only commits after this date' }),
    ),
    until: Type.Optional(
      Type.String({ format: 'date-time', description: 'only commits before this date' }),
    ),
    ...DETAILS_QUERY,
    ...PAGE_QUERY,
    not: Type.Optional(
      Type.String({ description: 'commits that match the given specifier will not be listed.' }),
    ),
  }),
  success: { status: 200, schema: Type.Array(COMMIT) },
  dependsOn: 'repository',
  failures: [404, 409, 422],
  async handle(context, { request, grant, query }) {
    const page = pageOf(query)
    const { signal } = request
    const { commits, total } = await inQueue(context, { request, grant }, () =>
      readGit(context, grant, async (reader) => {
        const input = { ...(await historyOf(context, { reader, grant, query })), signal }
        const part = { offset: offsetOf(page), limit: page.limit }
        const found = await pageOfHistory(reader, { ...input, ...part })
        const details = { ...query, signal }
        const [total, commits] = await Promise.all([
          found.total(),
          readCommits(reader, found.ids).then((commits) =>
            withDetails(context, grant, { reader, commits, details }),
          ),
        ])
        // If no commit changed the path, it does not exist.
        if (total === 0 && input.file !== undefined) throw notFound()
        return { commits, total }
      }),
    )
    const { owner, name } = grant.repository
    const { page: _page, limit: _limit, ...rest } = query
    const given = Object.entries(rest).map(([key, value]) => [key, String(value)])
    const reply = pageReply(context, commits, {
      path: `/repos/${owner.name}/${name}/commits`,
      page,
      total,
      query: Object.fromEntries(given),
    })
    return { ...reply, headers: [...(reply.headers ?? []), ...pageHeaders(page, total)] }
  },
})

interface HistoryQuery {
  readonly reader: GitReader
  readonly grant: RepositoryGrant
  readonly query: {
    readonly sha?: string
    readonly path?: string
    readonly since?: string
    readonly until?: string
    readonly not?: string
  }
}

async function historyOf(
  context: Context,
  { reader, grant, query }: HistoryQuery,
): Promise<HistoryInput & { readonly file: string | undefined }> {
  const from = await revisionOf(reader, grant, query.sha).catch(async (error: unknown) => {
    const isEmpty = await isEmptyRepository(repositoryPathOf(context, grant.repository))
    throw isEmpty ? new Failure('conflict', 'Git Repository is empty.') : error
  })
  const not = query.not ? await revisionOf(reader, grant, query.not) : undefined
  const segments = pathSegments(query.path ?? '')
  if (segments === undefined) throw notFound()
  return {
    from: from.commitId,
    not: not?.commitId,
    file: segments.length === 0 ? undefined : segments.join('/'),
    sinceMs: timeOf(query.since, 'Since'),
    untilMs: timeOf(query.until, 'Until'),
  }
}

function timeOf(text: string | undefined, field: string): number | undefined {
  if (!text) return undefined
  const timeMs = /^\d{4}-\d\d-\d\dT/.test(text)
    ? Date.parse(text.replace(/ (?=\d\d:\d\d$)/, '+'))
    : Number.NaN
  if (Number.isNaN(timeMs)) throw new Failure('invalid', `[${field}]: not an RFC 3339 date-time`)
  return Math.max(0, timeMs)
}

/** Returns the Commit objects with the requested details. */
export async function withDetails(
  context: Context,
  grant: RepositoryGrant,
  {
    reader,
    commits,
    details: { stat = true, files = true, verification = true, signal },
  }: {
    readonly reader: GitReader
    readonly commits: readonly Commit[]
    readonly details: Details & { readonly signal: AbortSignal }
  },
): Promise<CommitObject[]> {
  const wanted = stat || files ? commits : []
  const changes = await readChanges(reader, { commits: wanted, hasLines: stat, signal })
  return commitObjects(context, grant, commits, ({ id }) => {
    const { files: paths, lines } = changes.get(id) ?? {}
    const shown = files ? paths : undefined
    return {
      files: shown?.map(({ path, status }) => ({ filename: path, status })) ?? null,
      stats: lines === undefined ? null : { total: lines.additions + lines.deletions, ...lines },
      isUnverified: !verification,
    }
  })
}

/** Returns the Commit objects of full ids, with all details. */
export async function describeCommits(
  context: Context,
  { request, grant }: Caller,
  { reader, ids }: { readonly reader: GitReader; readonly ids: readonly string[] },
): Promise<CommitObject[]> {
  const commits = await readCommits(reader, ids)
  return withDetails(context, grant, { reader, commits, details: { signal: request.signal } })
}

/**
 * Returns the commit that `text` names. Throws `not_found`, or `invalid` if `text` cannot be a
 * revision.
 */
async function commitNamed(reader: GitReader, text: string): Promise<Commit> {
  const found = await findRevision(reader.objects, text)
  if (found !== undefined) return readCommit(reader, found.commitId)
  if (/^[\w./-]+$/.test(text) && !text.startsWith('-')) throw notFound()
  throw new Failure('invalid', 'no valid ref or sha')
}

const get = defineOperation({
  id: 'repoGetSingleCommit',
  method: 'GET',
  path: '/repos/{owner}/{repo}/git/commits/{sha}',
  summary: 'Get a single commit from a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: { ...REPOSITORY_PARAMS, sha: 'a git ref or commit sha' },
  query: Type.Object(DETAILS_QUERY),
  success: { status: 200, schema: COMMIT },
  failures: [404, 422],
  handle: (context, { request: { signal }, grant, params, query }) =>
    readGit(context, grant, async (reader) => {
      const commits = [await commitNamed(reader, params['sha'] ?? '')]
      const details = { ...query, signal }
      const [object] = await withDetails(context, grant, { reader, commits, details })
      return jsonReply(200, object)
    }),
})

const NOTES = 'refs/notes/commits'

const NOTE = Type.Object({ message: Type.String(), commit: COMMIT }, { $id: 'Note' })

const getNote = defineOperation({
  id: 'repoGetNote',
  method: 'GET',
  path: '/repos/{owner}/{repo}/git/notes/{sha}',
  summary: 'Get a note corresponding to a single commit from a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: { ...REPOSITORY_PARAMS, sha: 'a git ref or commit sha' },
  query: Type.Object({ ...VERIFICATION_QUERY, ...FILES_QUERY }),
  success: { status: 200, schema: NOTE },
  failures: [404, 422],
  handle: (context, { request: { signal }, grant, params, query }) =>
    readGit(context, grant, async (reader) => {
      const { id } = await commitNamed(reader, params['sha'] ?? '')
      const notes = await reader.objects.read(`${NOTES}^{commit}`)
      const tree = await reader.objects.read(`${NOTES}^{tree}`)
      const note = notes && tree ? await findNote(reader, tree.id, id) : undefined
      if (notes === undefined || note === undefined) throw notFound()
      const last = await lastCommitOf(reader, { from: notes.id, file: note.file, signal })
      const commits = await readCommits(reader, [last ?? notes.id])
      const details = { ...query, stat: false, signal }
      const [commit] = await withDetails(context, grant, { reader, commits, details })
      return jsonReply(200, { message: note.message, commit })
    }),
})

/**
 * Finds the note of a commit, whose path in the notes tree is the commit's id. If there are many
 * notes, the path is split into folders of two digits (git-notes(1)).
 */
async function findNote(
  { objects }: GitReader,
  treeId: string,
  commitId: string,
): Promise<{ readonly file: string; readonly message: string } | undefined> {
  let [tree, rest, folder] = [treeId, commitId, '']
  for (;;) {
    const entries = await readTree(objects, tree)
    const note = entries.find(({ name, kind }) => name === rest && kind === 'file')
    if (note !== undefined) {
      const message = (await objects.read(note.id))?.content?.toString() ?? ''
      return { file: folder + rest, message }
    }
    const inner = entries.find(
      ({ name, kind }) => kind === 'directory' && name === rest.slice(0, 2),
    )
    if (inner === undefined) return undefined
    ;[tree, rest, folder] = [inner.id, rest.slice(2), `${folder}${rest.slice(0, 2)}/`]
  }
}

export const COMMIT_READING_OPERATIONS: readonly AnyOperation[] = [list, get, getNote]
