/** Heads of pull requests in other repositories: their tips, and copies of their commits. */

import { withObjects } from '../../../cgi/objects/with-objects.js'
import { copyCommit } from '../../../cgi/transfer/take-commit.js'
import { diskFailureOf } from '../../../conf/disk-failure.js'
import { isFailure } from '../../../conf/failures.js'
import { findUserById } from '../../../sql/accounts/users.js'
import type { IssueAndPull } from '../../../sql/pulls/pulls.js'
import { accessToRepository } from '../../../sql/repositories/access.js'
import {
  findRepositoriesById,
  findRepositoryById,
  type Repository,
} from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { missingFolder } from '../../request/missing-folder.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { bringLfsObjects } from './bring-lfs-objects.js'

/** Tip of a head that is in another repository than the base. */
export interface ForeignTip {
  readonly commit: string
  /** Absolute path and id of the head repository. */
  readonly source: string
  readonly sourceId: number
}

/** True if the head is, or was before its deletion, in another repository than the base. */
export function isForeign({ pull }: Pick<IssueAndPull, 'pull'>): boolean {
  return pull.headRepositoryId !== pull.repositoryId
}

/**
 * Returns the tips of heads in other repositories, by the id of the pull request. A tip is missing
 * if the repository or branch was deleted, or if the author of the pull request can no longer read
 * the repository: commits that were pushed after it became private must not leak.
 */
export async function findForeignTips(
  context: Context,
  entries: readonly IssueAndPull[],
): Promise<ReadonlyMap<number, ForeignTip>> {
  const tips = new Map<number, ForeignTip>()
  const foreign = entries.filter(isForeign)
  const ids = new Set(foreign.flatMap(({ pull }) => pull.headRepositoryId ?? []))
  for (const repository of await findRepositoriesById(context.db, [...ids])) {
    const mine: IssueAndPull[] = []
    for (const entry of foreign.filter(({ pull }) => pull.headRepositoryId === repository.id)) {
      if (await mayFollow(context, repository, entry)) mine.push(entry)
    }
    const found = await readTips(context, repository, mine)
    for (const [pullId, tip] of found) tips.set(pullId, tip)
  }
  return tips
}

async function mayFollow(
  { db }: Context,
  head: Repository,
  { issue }: IssueAndPull,
): Promise<boolean> {
  if ((await accessToRepository(db, undefined, head)).code !== 'none') return true
  const { authorId } = issue
  const author = authorId === undefined ? undefined : await findUserById(db, authorId)
  return author !== undefined && (await accessToRepository(db, author, head)).code !== 'none'
}

async function readTips(
  { db, git, log, settings }: Context,
  repository: Repository,
  entries: readonly IssueAndPull[],
): Promise<readonly (readonly [pullId: number, tip: ForeignTip])[]> {
  if (entries.length === 0) return []
  const source = repositoryPathOf({ settings }, repository)
  try {
    return await withObjects(git, source, async (objects) => {
      const found = await Promise.all(
        entries.map(({ pull }) => objects.read(`refs/heads/${pull.headBranch}^{commit}`)),
      )
      return entries.flatMap(({ pull }, at) => {
        const commit = found[at]?.type === 'commit' ? found[at].id : undefined
        return commit === undefined
          ? []
          : [[pull.id, { commit, source, sourceId: repository.id }] as const]
      })
    })
  } catch (error) {
    // A repository that is deleted during the read loses its folder.
    if ((await findRepositoryById(db, repository.id)) === undefined) return []
    // The pull request is shown with the last known head.
    const missing = missingFolder({ settings }, repository)
    if (missing === undefined) throw error
    log.error({ error: missing.cause }, 'the head repository of pull requests cannot be read')
    return []
  }
}

/** Commit to copy into the repository at `path`. */
export interface CommitCopy extends ForeignTip {
  readonly path: string
  readonly repositoryId: number
}

/** In-flight copies by repository and commit, which concurrent requests share. */
const inFlight = new Map<string, Promise<void>>()

/**
 * Copies a commit, its history and its LFS objects from another repository of this server. Throws
 * `payload_too_large` if a push of the same size would be refused, and the errors of the queue of
 * git processes.
 */
export async function copyForeignCommit(context: Context, bringing: CommitCopy): Promise<void> {
  const key = `${bringing.path} ${bringing.commit}`
  const work = inFlight.get(key) ?? bring(context, bringing).finally(() => inFlight.delete(key))
  inFlight.set(key, work)
  await work
}

async function bring(context: Context, bringing: CommitCopy): Promise<void> {
  const { path, source, commit } = bringing
  const { git, journal, queue, settings } = context
  const { pushBytesMax: packBytesMax, timeoutMs } = settings.git
  const visitor = { repository: path, client: `pulls of ${path}` }
  const leave = await queue.enter(AbortSignal.timeout(timeoutMs), visitor)
  try {
    await copyCommit(git, path, { source, commit, packBytesMax, timeoutMs, journal })
    await bringLfsObjects(context, bringing)
  } finally {
    leave()
  }
}

/** Times of the next attempt for copies that failed, by repository and commit. */
const retryAtMs = new Map<string, number>()
const RETRY_MS = 600_000
const RETRIES_MAX = 1_000

/**
 * Copies a commit like `bringCommit`, but returns false if that fails. After an error that is not
 * temporary, no other attempt is made for ten minutes.
 */
export async function tryToCopyForeignCommit(
  context: Context,
  bringing: CommitCopy,
): Promise<boolean> {
  const key = `${bringing.path} ${bringing.commit}`
  if ((retryAtMs.get(key) ?? 0) > Date.now()) return false
  try {
    await copyForeignCommit(context, bringing)
    return true
  } catch (error) {
    const { path, commit } = bringing
    context.log.warn({ error, path, commit }, 'a pull request cannot follow its head')
    const isTemporary =
      isFailure(error, 'unavailable') || isFailure(error, 'throttled') || diskFailureOf(error)
    if (!isTemporary) {
      if (retryAtMs.size >= RETRIES_MAX) retryAtMs.clear()
      retryAtMs.set(key, Date.now() + RETRY_MS)
    }
    return false
  }
}
