/** Reads the Git data of a repository for one request: revisions, commits, ranges and blobs. */

import { type Commit, parseCommit } from '../../../cgi/objects/commit-object.js'
import {
  type CommitRange,
  countAheadBehind,
  listCommits,
} from '../../../cgi/objects/commit-range.js'
import type { ObjectReader } from '../../../cgi/objects/objects.js'
import type { Git } from '../../../cgi/process/git.js'
import { findRevision, type Revision } from '../../../cgi/refs/revision.js'
import { notFound } from '../../../conf/failures.js'
import { offsetOf, type Page } from '../../../sql/database/page.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'

/** Maximum number of paths of a listing: small trees can name billions. */
export const TREE_ENTRIES_MAX = 100_000

/** Maximum size of a file that the API returns in an answer. */
export const BLOB_BYTES_MAX = 10_485_760

/** Maximum size of the files, in base64, that the API returns in one answer. */
export const CONTENTS_BYTES_MAX = 33_554_432

export type RepositoryGrant = Grants['repository']

/** Repository that is open for one request. */
export interface GitReader {
  readonly git: Git
  /** Absolute path of the repository. */
  readonly path: string
  readonly objects: ObjectReader
}

/** Runs `use` with a reader of an authorized repository. */
export function readGit<T>(
  context: Context,
  grant: RepositoryGrant,
  use: (reader: GitReader) => Promise<T>,
): Promise<T> {
  const { git } = context
  const path = repositoryPathOf(context, grant.repository)
  return context.objects.use(path, (objects) => use({ git, path, objects }))
}

/** Finds a revision by its name, by default the default branch. Throws `not_found`. */
export async function revisionOf(
  { objects }: GitReader,
  { repository }: RepositoryGrant,
  text: string | undefined,
): Promise<Revision> {
  const found = await findRevision(objects, text || `refs/heads/${repository.defaultBranch}`)
  if (found === undefined) throw notFound()
  return found
}

/** Reads a commit by its full id. Throws `not_found`. */
export async function readCommit({ objects }: GitReader, id: string): Promise<Commit> {
  const object = await objects.read(id)
  if (object?.type !== 'commit' || object.content === undefined) throw notFound()
  return parseCommit(object.id, object.content)
}

/** Reads commits by their full ids, in that order. Throws `not_found`. */
export function readCommits(reader: GitReader, ids: readonly string[]): Promise<Commit[]> {
  return Promise.all(ids.map((id) => readCommit(reader, id)))
}

/** Reads a page of the commits in a range, newest first, and counts them all. */
export async function readRange(
  reader: GitReader,
  range: CommitRange,
  page: Page,
): Promise<{ readonly commits: readonly Commit[]; readonly total: number }> {
  const { git, path } = reader
  const part = { offset: offsetOf(page), limit: page.limit }
  const { ahead: total } = await countAheadBehind(git, path, range)
  const commits = await readCommits(reader, await listCommits(git, path, { ...range, ...part }))
  return { commits, total }
}

/**
 * Reads a blob by its full id. The content of a blob of more than BLOB_BYTES_MAX bytes is not read.
 * Undefined if there is no such blob.
 */
export async function readBlob(
  { objects }: GitReader,
  id: string,
  signal: AbortSignal,
): Promise<{ readonly sizeBytes: number; readonly content: Buffer | undefined } | undefined> {
  const sizeBytes = (await objects.readSizes([id], signal)).get(id)
  if (sizeBytes === undefined) return undefined
  if (sizeBytes > BLOB_BYTES_MAX) return { sizeBytes, content: undefined }
  const blob = await objects.read(id)
  return blob?.type === 'blob' ? { sizeBytes, content: blob.content } : undefined
}
