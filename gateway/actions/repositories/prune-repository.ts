/** Pruning of repositories, and the refs that still reach a commit to be removed. */

import { type Pruned, pruneRepository, refuseOldGit } from '../../../cgi/maintenance/prune.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import type { Git } from '../../../cgi/process/git.js'
import { moveReferences } from '../../../cgi/refs/references.js'
import { type KeepingReference, referencesTo } from '../../../cgi/refs/references-to.js'
import { repositoryExists } from '../../../cgi/repository/repository.js'
import { Failure } from '../../../conf/failures.js'
import { isHeld } from '../../../sql/admin/holds.js'
import { findIssue } from '../../../sql/issues/issues.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { recordSize, wikiOf } from '../../../sql/repositories/wikis.js'
import { noteRemoval } from '../../packs/cache-removals.js'
import { removeAnswers } from '../../packs/remove-answers.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import type { PruneRequest, QueuedPrune } from '../../request/upkeep.js'
import { removeLfsObjects } from './remove-lfs-objects.js'

/** Dependencies of pruning, for jobs and the command line. */
export type PruneContext = Pick<Context, 'settings' | 'db' | 'git' | 'journal'>

/**
 * Subject of the job, of at most 100 characters: `12`, `12 0ms`, `12 0ms 1f0c…`, for the
 * repository 12, its grace period, and the commit.
 */
export function pruneSubject({ repositoryId, graceMs, commit }: QueuedPrune): string {
  const age = graceMs === undefined ? [] : [`${graceMs}ms`]
  return [repositoryId, ...age, ...(commit === undefined ? [] : [commit])].join(' ')
}

const SUBJECT = /^(\d+)(?: (\d+)ms)?(?: ([0-9a-f]+))?$/

/** Reads the subject of a job. Throws an Error for any other text. */
export function parsePruneSubject(subject: string): QueuedPrune {
  const [, id, graceMs, commit] = SUBJECT.exec(subject) ?? []
  if (id === undefined) throw new Error(`the subject '${subject}' of a prune job is malformed`)
  return {
    repositoryId: Number(id),
    graceMs: graceMs === undefined ? undefined : Number(graceMs),
    commit,
  }
}

export interface Release extends PruneRequest {
  /** True to delete `refs/pull/N/head` of closed pull requests that reach the commit. */
  readonly dropsClosedPulls: boolean
}

/**
 * Prepares a prune. Throws `method_not_allowed` if git is too old, `invalid` for a commit id that
 * is not full, and `conflict` with the names of the refs that reach the commit. If only heads of
 * closed pull requests reach it, and `dropsClosedPulls` is true, deletes these.
 */
export async function releaseCommit(
  { settings, db, git, journal }: PruneContext,
  repository: Repository,
  { commit, dropsClosedPulls }: Release,
): Promise<void> {
  refuseOldGit(git)
  if (commit === undefined) {
    if (dropsClosedPulls) throw new Failure('invalid', 'Name the commit to remove.')
    return
  }
  if (!ID[repository.objectFormat].test(commit)) {
    throw new Failure('invalid', 'The commit is not a full id in lower case.')
  }
  const path = repositoryPathOf({ settings }, repository)
  const keeping = await referencesTo(git, path, commit)
  const dropped: KeepingReference[] = []
  for (const reference of keeping) {
    const isDropped = dropsClosedPulls && (await isClosedPull(db, repository, reference))
    if (isDropped) dropped.push(reference)
  }
  const left = keeping.filter((reference) => !dropped.includes(reference))
  if (left.length > 0) throw new Failure('conflict', keptMessage(commit, left))
  if (dropped.length === 0) return
  const changes = dropped.map(({ name, id }) => ({ name, before: id, after: undefined }))
  await moveReferences(git, path, changes, { journal })
}

const ID: Readonly<Record<Repository['objectFormat'], RegExp>> = {
  sha1: /^[0-9a-f]{40}$/,
  sha256: /^[0-9a-f]{64}$/,
}

const PULL_HEAD = /^refs\/pull\/(\d{1,10})\/head$/

async function isClosedPull(
  db: PruneContext['db'],
  { id }: Repository,
  { name }: KeepingReference,
): Promise<boolean> {
  const number = PULL_HEAD.exec(name)?.[1]
  const issue = number === undefined ? undefined : await findIssue(db, id, Number(number))
  return issue?.state === 'closed'
}

const NAMED_MAX = 10

function keptMessage(commit: string, references: readonly KeepingReference[]): string {
  const names = references.slice(0, NAMED_MAX).map(({ name }) => name)
  const more = references.length - names.length
  const list = names.join(', ') + (more > 0 ? ` and ${more} more` : '')
  return `Commit ${commit} is reachable from ${list}.`
}

/** Result of pruning a repository and its wiki. */
export interface PrunedRepository extends Pruned {
  /** Number of LFS objects that were removed, because no file points to them. */
  readonly lfsObjects: number
}

/**
 * Prunes a repository, its LFS objects and its wiki, and deletes their entries in the pack cache.
 * Throws as `pruneRepository` does, and an Error if the repository still has the commit.
 */
export async function pruneNow(
  context: PruneContext,
  repository: Repository,
  { commit, ...options }: PruneOptions,
): Promise<PrunedRepository> {
  const ofCommits = await pruneFolder(context, repository, options)
  const lfsObjects = await removeLfsObjects(context, repository, options.signal)
  const pruned = { ...ofCommits, lfsObjects }
  const path = repositoryPathOf(context, repository)
  if (commit !== undefined) await refuseKept(context.git, path, commit)
  const wiki = wikiOf(repository)
  if (!(await repositoryExists(repositoryPathOf(context, wiki)))) return pruned
  const { removed } = await pruneFolder(context, wiki, options)
  return { ...pruned, removed: pruned.removed + removed }
}

type PruneOptions = PruneRequest & { readonly signal?: AbortSignal | undefined }

async function pruneFolder(
  { settings, db, git, journal }: PruneContext,
  repository: Repository,
  { graceMs = settings.maintenance.prune.graceMs, signal }: PruneOptions,
): Promise<Pruned> {
  const { dir: dataDir } = settings.data
  const path = repositoryPathOf({ settings }, repository)
  const pruned = await pruneRepository(git, path, {
    dataDir,
    journal,
    signal,
    graceMs,
    isHeld: () => isHeld(db),
  })
  await removeAnswers(settings.cache.dir, path)
  await noteRemoval(dataDir, path)
  await recordSize(db, repository, pruned.sizeKib)
  return pruned
}

async function refuseKept(git: Git, path: string, commit: string): Promise<void> {
  const found = await withObjects(git, path, (objects) => objects.read(commit, 0))
  if (found === undefined) return
  const references = await referencesTo(git, path, commit)
  const reason =
    references.length > 0
      ? keptMessage(commit, references)
      : `Commit ${commit} is younger than the grace period, or than a write that still runs.`
  throw new Error(reason)
}
