/** Creation of pull requests between branches of one repository or of two related ones. */

import { findMergeBase } from '../../../cgi/objects/commit-range.js'
import type { ObjectReader } from '../../../cgi/objects/objects.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findRevision } from '../../../cgi/refs/revision.js'
import { Failure } from '../../../conf/failures.js'
import { isReferenceName } from '../../../conf/names.js'
import type { User } from '../../../sql/accounts/users.js'
import { type EventDetails, recordIssueEvents } from '../../../sql/issues/issue-events.js'
import type { Team } from '../../../sql/organizations/teams.js'
import { createPull, type IssueAndPull, type NewPull, type Pull } from '../../../sql/pulls/pulls.js'
import { createReview, type Review } from '../../../sql/pulls/reviews.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { actingUserOf } from '../code/acting-user.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { titleOf } from '../issues/issue-access.js'
import { issueChanged } from '../issues/issue-changed.js'
import { noteReferences } from '../issues/note-references.js'
import { findHead } from './find-head.js'
import { refuseWithoutPulls } from './find-pull.js'
import { copyForeignCommit } from './foreign-heads.js'
import { branchReference } from './refresh-pulls.js'

export interface PullInput {
  /** Name of the head in the form that `findHead` accepts. */
  readonly head: string
  readonly base: string
  readonly issue: Omit<NewPull['issue'], 'authorId'>
  /** Absent for the repository's preference. */
  readonly allowsMaintainerEdit?: boolean | undefined
  /** Requested reviewers. */
  readonly reviewers: readonly ReviewerInput[]
}

/** Requested reviewer: a user or a team. */
export interface ReviewerInput {
  readonly asked: { readonly user: User } | { readonly team: Team }
  readonly isOfficial: boolean
}

/**
 * Creates a pull request and publishes it. Throws `not_found` if a branch is missing or pull
 * requests are disabled, `archived`, `invalid` if a name is not a branch or both are the same,
 * `conflict` if a pull request is open for the branches, and `payload_too_large` if the commits of
 * the head are too large.
 */
export async function openPull(
  context: Context,
  grant: RepositoryGrant,
  input: PullInput,
): Promise<IssueAndPull> {
  const { git, db, settings } = context
  refuseWithoutPulls(grant)
  const author = actingUserOf(grant)
  const { repository } = grant
  const { base } = input
  const title = titleOf(input.issue.title)
  const head = await findHead(context, grant, input.head)
  if (head === undefined) throw new Failure('not_found', NO_HEAD)
  const isHere = head.repository.id === repository.id
  if (isHere && head.branch === base) throw new Failure('invalid', NO_CHANGES)
  const path = repositoryPathOf({ settings }, repository)
  const tipIn = (place: string, branch: string) =>
    withObjects(git, place, (objects) => tipOfBranch(objects, branch))
  const [headTip, baseTip] = [await tipIn(head.path, head.branch), await tipIn(path, base)]
  if (!isHere) {
    const [source, sourceId] = [head.path, head.repository.id]
    const copied = { path, repositoryId: repository.id, source, sourceId, commit: headTip }
    await copyForeignCommit(context, copied)
  }
  const opened = await createPull(db, {
    issue: { ...input.issue, title, authorId: author.id },
    targets: {
      repositoryId: repository.id,
      headRepositoryId: head.repository.id,
      headBranch: head.branch,
      baseBranch: base,
    },
    headCommit: headTip,
    mergeBase: (await findMergeBase(git, path, [baseTip, headTip])) ?? baseTip,
    allowsMaintainerEdit:
      input.allowsMaintainerEdit ??
      repository.preferences['default_allow_maintainer_edit'] === true,
  })
  const { issue } = opened
  for (const reviewer of input.reviewers) {
    await requestReview(context, opened.pull, { ...reviewer, actorId: author.id })
  }
  await noteReferences(context, grant, { issue, text: `${issue.title}\n${issue.content}` })
  await issueChanged(context, { repository, issue, actor: author, actions: ['opened'] })
  if (input.reviewers.length > 0) {
    const reviewers = input.reviewers.map(({ asked }) => ('user' in asked ? asked.user : undefined))
    const event = { kind: 'review_requested', repository, issue, actor: author } as const
    await context.events.publish({ ...event, reviewers })
  }
  return opened
}

/** Uses one message for a missing owner, a missing fork and one that the caller cannot see. */
const NO_HEAD = 'The head repository does not exist, or it is not related to this one by forks.'

/** Requests a review of the head. Throws `conflict` if it is requested already. */
export async function requestReview(
  { db }: Context,
  { id: pullId, issueId, headCommit: commitId }: Pick<Pull, 'id' | 'issueId' | 'headCommit'>,
  { asked, isOfficial, actorId }: ReviewerInput & { readonly actorId: number },
): Promise<Review> {
  const review = await createReview(db, {
    pullId,
    commitId,
    isOfficial,
    state: 'REQUEST_REVIEW',
    content: '',
    comments: [],
    reviewerId: 'user' in asked ? asked.user.id : undefined,
    ...('team' in asked ? { teamId: asked.team.id } : {}),
  })
  // The event keeps no id of the request, which is deleted when it is answered.
  const details = askedDetails(asked)
  await recordIssueEvents(db, [{ issueId, actorId, kind: 'review_request', details }])
  return review
}

/** Returns the user or team as the details of an event. */
export function askedDetails(asked: ReviewerInput['asked']): EventDetails {
  return 'user' in asked ? { assigneeId: asked.user.id } : { teamId: asked.team.id }
}

const NO_CHANGES = 'Invalid PullRequest: There are no changes between the head and the base'

/** Returns the tip of a branch. Throws `not_found`, or `invalid` if the name is not a branch. */
export async function tipOfBranch(objects: ObjectReader, branch: string): Promise<string> {
  // The full name is checked, because a pushed branch name can begin with a dash.
  const name = branchReference(branch)
  const isName = isReferenceName(name.slice('refs/'.length))
  const found = isName ? await objects.read(`${name}^{commit}`) : undefined
  if (found?.type === 'commit') return found.id
  if ((await findRevision(objects, branch)) !== undefined) {
    throw new Failure('invalid', 'Invalid PullRequest: base and head must be branches')
  }
  throw new Failure('not_found', `The branch ${branch} does not exist.`)
}
