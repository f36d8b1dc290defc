/** Merges of the parent of a fork into a branch of the fork. */

import { isAncestor } from '../../../cgi/objects/commit-range.js'
import { findRevision } from '../../../cgi/refs/revision.js'
import { Failure, notFound } from '../../../conf/failures.js'
import { parseBranchName } from '../../../conf/names.js'
import { findRepositoryById, type Repository } from '../../../sql/repositories/repositories.js'
import { findRepositoryFacts } from '../../../sql/repositories/repository-facts.js'
import { accessToLinked } from '../../auth/authorize-repository.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { actingUserOf } from '../code/acting-user.js'
import { type Caller, inQueue } from '../code/git-queue.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { copyForeignCommit } from '../pulls/foreign-heads.js'
import { updateBranch } from '../pulls/merge-pull.js'

export interface UpstreamMerge {
  /** Branch of the fork. */
  readonly branch: string
  /** True to refuse a branch that has commits of its own. */
  readonly isForwardOnly: boolean
}

export type UpstreamOutcome = 'up-to-date' | 'fast-forward' | 'merge'

/**
 * Merges the branch of that name of the parent into the branch of a fork. The default branch of the
 * fork takes the default branch of the parent if the parent has no branch of its name. Throws
 * `bad_request` if the repository is no fork or cannot be fast-forwarded as asked, `not_found` if a
 * branch is missing or the caller cannot see the parent, and `conflict` as `makeMerge`.
 */
export async function mergeUpstream(
  context: Context,
  caller: Caller,
  { branch: text, isForwardOnly }: UpstreamMerge,
): Promise<UpstreamOutcome> {
  const { grant } = caller
  const { repository } = grant
  const doer = actingUserOf(grant)
  const branch = parseBranchName(text)
  const parent = await findVisibleParent(context, grant)
  const path = repositoryPathOf(context, repository)
  const before = await tipOf(context, repository, branch)
  const commit =
    (await tipOf(context, parent, branch)) ??
    (branch === repository.defaultBranch
      ? await tipOf(context, parent, parent.defaultBranch)
      : undefined)
  if (before === undefined || commit === undefined) throw notFound()
  if (before === commit) return 'up-to-date'
  await copyForeignCommit(context, {
    path,
    repositoryId: repository.id,
    source: repositoryPathOf(context, parent),
    sourceId: parent.id,
    commit,
  })
  return await inQueue(context, caller, async () => {
    const { git } = context
    if (await isAncestor(git, path, { older: commit, younger: before })) return 'up-to-date'
    const isForward = await isAncestor(git, path, { older: before, younger: commit })
    if (!isForward && isForwardOnly) {
      const why = `Branch ${branch} has commits that the parent lacks.`
      throw new Failure('bad_request', `${why} Send "ff_only": false to merge.`)
    }
    const style = isForward ? 'fast-forward-only' : 'merge'
    const message = `Merge branch '${branch}' of ${parent.owner.name}/${parent.name}`
    await updateBranch(context, { repository, path, doer, branch, before, commit, style, message })
    return isForward ? 'fast-forward' : 'merge'
  })
}

async function findVisibleParent(
  { db }: Context,
  { repository, who }: RepositoryGrant,
): Promise<Repository> {
  const factsOf = await findRepositoryFacts(db, [repository.id])
  const { parentId } = factsOf(repository.id)
  if (parentId === undefined) throw new Failure('bad_request', 'The repository is not a fork.')
  const parent = await findRepositoryById(db, parentId)
  if (parent === undefined) throw notFound()
  if ((await accessToLinked(db, who, parent)).code === 'none') throw notFound()
  return parent
}

/** Returns the commit of a branch; undefined if there is no such branch. */
function tipOf(
  context: Context,
  repository: Repository,
  branch: string,
): Promise<string | undefined> {
  return context.objects.use(repositoryPathOf(context, repository), async (objects) => {
    return (await findRevision(objects, `refs/heads/${branch}`))?.commitId
  })
}
