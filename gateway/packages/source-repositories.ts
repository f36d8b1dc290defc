/** The repositories of a package owner, as formats read them (`registry/source-repository.ts`). */

import { streamPlainArchive } from '../../cgi/objects/archive.js'
import { parseCommit } from '../../cgi/objects/commit-object.js'
import { checkReachability } from '../../cgi/objects/reachability.js'
import { findEntry, pathSegments } from '../../cgi/objects/tree.js'
import { listTree } from '../../cgi/objects/tree-listing.js'
import { listMergedTags, listReferences } from '../../cgi/refs/list-references.js'
import { notFound } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import { isReferenceName } from '../../conf/names.js'
import { createYielder } from '../../registry/archive/yielder.js'
import { dispositionOf } from '../../registry/serve.js'
import type {
  SourceCommit,
  SourceFile,
  SourceReader,
  SourceRepositories,
  SourceRepository,
} from '../../registry/source-repository.js'
import { type Caller, inQueue } from '../actions/code/git-queue.js'
import { type GitReader, readGit } from '../actions/code/git-reader.js'
import { sendStored, streamInQueue } from '../actions/code/git-stream.js'
import { cloneUrl } from '../actions/repositories/clone-urls.js'
import type { PackagesGrant } from '../auth/authorize-packages.js'
import { authorizeSource } from '../auth/authorize-source.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'

/** Returns the repositories of the owner that the caller may read. */
export function sourceRepositories(
  context: Context,
  { request, grant }: { readonly request: Request; readonly grant: PackagesGrant },
): SourceRepositories {
  const { db, settings } = context
  return {
    url: `${settings.http.baseUrl}/${grant.owner.name}`,
    async find(name) {
      const { who, owner } = grant
      const anonymousBytesMax = settings.git.anonymousCloneBytesMax
      const found = await authorizeSource(db, who, { owner, repo: name, anonymousBytesMax })
      if (found === undefined) return undefined
      const isNamed = found.hasMoved || found.repository.name === name
      return isNamed ? sourceRepository(context, { request, grant: found }) : undefined
    },
  }
}

function sourceRepository(context: Context, caller: Caller): SourceRepository {
  const { repository } = caller.grant
  const path = repositoryPathOf(context, repository)
  const { signal } = caller.request
  return {
    url: cloneUrl(context.settings, `${repository.owner.name}/${repository.name}`),
    read: (use) =>
      inQueue(context, caller, () =>
        readGit(context, caller.grant, (reader) => use(sourceReader(reader, signal))),
      ),
    async serveArchive({ method }, { commitId, directory, words, make, ...file }) {
      const headers = [
        ['Content-Type', file.contentType],
        ['Content-Disposition', dispositionOf(file.fileName)],
        ['Cache-Control', 'private, no-cache'],
        ['X-Content-Type-Options', 'nosniff'],
      ] as const
      if (method === 'HEAD') return { status: 200, headers }
      const archive = () =>
        streamInQueue(context, caller, (bounds) =>
          streamPlainArchive(context.git, path, { commitId, directory, ...bounds }),
        )
      const body = await sendStored(context, path, {
        words: async () => ['plain archive', commitId, directory, ...words],
        make: () => make(archive),
      })
      return { status: 200, headers, ...body }
    },
  }
}

function sourceReader(reader: GitReader, signal: AbortSignal): SourceReader {
  const { git, path, objects } = reader
  return {
    async listTags() {
      const names: string[] = []
      const namespaces = ['refs/tags'] as const
      for await (const { name } of listReferences(git, path, { namespaces, signal })) {
        names.push(name.slice('refs/tags/'.length))
      }
      return names
    },
    async listMergedTags(commitId) {
      const tags: { name: string; isOfCommit: boolean }[] = []
      for await (const { name, isOfCommit } of listMergedTags(git, path, { commitId, signal })) {
        tags.push({ name: name.slice('refs/tags/'.length), isOfCommit })
      }
      return tags
    },
    findCommit: (name) => findCommit(reader, name, signal),
    async readFile(commitId, file, bytesMax) {
      const tree = await objects.read(`${commitId}^{tree}`)
      const segments = pathSegments(file)
      const entry = tree && segments && (await findEntry(objects, tree.id, segments))
      if (entry?.kind !== 'file' && entry?.kind !== 'symlink') return undefined
      const blob = await objects.read(entry.id, bytesMax)
      if (blob !== undefined && blob.content === undefined) {
        throw notFound(`not found: ${file} has more than ${bytesMax} bytes`)
      }
      return blob?.content
    },
    listFiles: (commitId, options) => listFiles(reader, { commitId, signal, ...options }),
  }
}

/** Finds a commit in the order of the go command: tag, branch, `HEAD`, id. */
async function findCommit(
  reader: GitReader,
  name: string,
  signal: AbortSignal,
): Promise<SourceCommit | undefined> {
  const isName = isReferenceName(name)
  const refs = isName ? [`refs/tags/${name}`, `refs/heads/${name}`] : []
  if (name === 'HEAD') refs.push('HEAD')
  for (const ref of refs) {
    const commit = await readCommit(reader, ref)
    if (commit !== undefined) return { ...commit, ref }
  }
  if (!/^[0-9a-f]{7,64}$/.test(name)) return undefined
  const commit = await readCommit(reader, name)
  const isIt = commit?.id.startsWith(name) && (await isPublished(reader, commit.id, signal))
  return isIt ? commit : undefined
}

async function readCommit({ objects }: GitReader, name: string): Promise<SourceCommit | undefined> {
  const object = await objects.read(`${name}^{commit}`)
  if (object?.type !== 'commit' || object.content === undefined) return undefined
  return { id: object.id, committedAtMs: parseCommit(object.id, object.content).committer.atMs }
}

/** Returns true if a branch or a tag reaches the commit. */
async function isPublished(
  { git, path }: GitReader,
  commitId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const tips = new Set<string>()
  const namespaces = ['refs/heads', 'refs/tags'] as const
  for await (const { id } of listReferences(git, path, { namespaces, signal })) tips.add(id)
  if (tips.has(commitId)) return true
  const { kind } = await checkReachability(git, path, { oids: [commitId], tips: [...tips] })
  return kind === 'reachable'
}

/** Number of entries that are parsed before other requests may run. */
const ENTRIES_PART = 5_000

async function listFiles(
  { git, path, objects }: GitReader,
  {
    commitId,
    directory,
    filesMax,
    signal,
  }: {
    readonly commitId: string
    readonly directory: string
    readonly filesMax: number
    readonly signal: AbortSignal
  },
): Promise<readonly SourceFile[]> {
  const tree = await objects.read(`${commitId}^{tree}`)
  const segments = pathSegments(directory)
  const folder = tree && segments && (await findEntry(objects, tree.id, segments))
  if (folder?.kind !== 'directory') return []
  const bounds = { entriesMax: filesMax, hasFolders: false, signal }
  const listing = await listTree(git, path, folder.id, bounds)
  if (listing.isCut) throw notFound(`not found: the folder has more than ${filesMax} files`)
  const yieldIfDue = createYielder()
  const found: (Omit<SourceFile, 'bytes'> & { readonly id: string })[] = []
  for (let at = 0; at < listing.count; at += ENTRIES_PART) {
    for (const { path, kind, id } of listing.entries(at, at + ENTRIES_PART)) {
      if (kind === 'file' || kind === 'symlink') found.push({ path, kind, id })
    }
    await yieldIfDue()
  }
  const ids = found.map(({ id }) => id)
  const sizes = await objects.readSizes(ids, signal)
  return found.map(({ path, kind, id }) => ({ path, kind, bytes: sizes.get(id) ?? 0 }))
}
