/** Opening a pull request between two branches of a repository. */

import { findMergeBase } from '../../cgi/commit-range.js'
import { type ObjectReader, withObjects } from '../../cgi/objects.js'
import { repositoryPath } from '../../cgi/paths.js'
import { findRevision } from '../../cgi/revision.js'
import { Failure } from '../../conf/failures.js'
import { isReferenceName } from '../../conf/names.js'
import { createPull, type IssueAndPull, type NewPull } from '../../sql/pulls.js'
import type { Repository } from '../../sql/repositories.js'
import { createReview } from '../../sql/reviews.js'
import type { User } from '../../sql/users.js'
import type { Context } from '../context.js'
import { branchReference } from './refresh-pulls.js'

export interface PullWish {
  readonly repository: Repository
  readonly author: User
  /** A branch, or `owner:branch`. */
  readonly head: string
  readonly base: string
  readonly issue: Omit<NewPull['issue'], 'authorId'>
  readonly allowsMaintainerEdit: boolean
  /** Whose review is asked for. */
  readonly reviewers: readonly ReviewerWish[]
}

export interface ReviewerWish {
  readonly user: User
  readonly isOfficial: boolean
}

/**
 * Opens it. Throws `not_found` for branches that are not there, `invalid` for what is none or the
 * same twice, and `conflict` where one of these branches is open.
 */
export async function openPull(context: Context, wish: PullWish): Promise<IssueAndPull> {
  const { git, db, settings } = context
  const { repository, author, base } = wish
  const headBranch = headBranchOf(wish)
  if (headBranch === base) throw new Failure('invalid', NO_CHANGES)
  const path = repositoryPath(settings.data.dir, repository.storage)
  const [headTip, baseTip] = await withObjects(git, path, (objects) =>
    Promise.all([tipOfBranch(objects, headBranch), tipOfBranch(objects, base)]),
  )
  const opened = await createPull(db, {
    issue: { ...wish.issue, authorId: author.id },
    targets: {
      ...{ repositoryId: repository.id, headRepositoryId: repository.id },
      ...{ headBranch, baseBranch: base },
    },
    headCommit: headTip,
    mergeBase: (await findMergeBase(git, path, [baseTip, headTip])) ?? baseTip,
    allowsMaintainerEdit: wish.allowsMaintainerEdit,
  })
  for (const { user, isOfficial } of wish.reviewers) {
    await createReview(db, {
      ...{ pullId: opened.pull.id, reviewerId: user.id, state: 'REQUEST_REVIEW', isOfficial },
      ...{ content: '', commitId: headTip, comments: [] },
    })
  }
  return opened
}

const NO_CHANGES = 'Invalid PullRequest: There are no changes between the head and the base'

/** Throws `not_found` for the branch of another repository: this one has no forks. */
function headBranchOf({ head, repository }: PullWish): string {
  const at = head.indexOf(':')
  if (at < 0) return head
  const [owner, branch] = [head.slice(0, at), head.slice(at + 1)]
  const { name } = repository.owner
  const isHere = [name, `${name}/${repository.name}`].some(
    (known) => known.toLowerCase() === owner.toLowerCase(),
  )
  if (!isHere || branch.includes(':')) {
    throw new Failure('not_found', `There is no fork of this repository at ${owner}.`)
  }
  return branch
}

/** The commit of a branch. Throws `not_found`, or `invalid` where the name is of something else. */
export async function tipOfBranch(objects: ObjectReader, branch: string): Promise<string> {
  // In full, a name may begin with a dash, as those that were pushed may.
  const name = branchReference(branch)
  const isName = isReferenceName(name.slice('refs/'.length))
  const found = isName ? await objects.read(`${name}^{commit}`) : undefined
  if (found?.type === 'commit') return found.id
  if ((await findRevision(objects, branch)) !== undefined) {
    throw new Failure('invalid', 'Invalid PullRequest: base and head must be branches')
  }
  throw new Failure('not_found', `The branch ${branch} does not exist.`)
}
