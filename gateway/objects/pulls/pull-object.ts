/** The PullRequest of this API. */

import { type Static, Type } from 'typebox'
import { findOwnersById } from '../../../sql/accounts/owners.js'
import { countReviewComments, requestsOfPulls } from '../../../sql/pulls/reviews.js'
import { findRepositoriesById, type Repository } from '../../../sql/repositories/repositories.js'
import { isDraft } from '../../actions/pulls/find-pull.js'
import { isForeign } from '../../actions/pulls/foreign-heads.js'
import type { PullState } from '../../actions/pulls/refresh-pulls.js'
import { pullReference } from '../../actions/pulls/refresh-pulls.js'
import type { Grants } from '../../auth/authorize.js'
import { accessToLinked } from '../../auth/authorize-repository.js'
import type { Context } from '../../request/context.js'
import { personObject, USER_OBJECT } from '../accounts/user-object.js'
import { issueObjects } from '../issues/issue-object.js'
import { LABEL } from '../issues/label-object.js'
import { MILESTONE } from '../issues/milestone-object.js'
import { TEAM_OBJECT, teamObjectsById } from '../organizations/team-object.js'
import {
  REPOSITORY_OBJECT,
  type RepositoryObject,
  repositoryObject,
  repositoryObjects,
} from '../repositories/repository-object.js'
import { nullable, omissible, TIME } from '../schema.js'
import { apiTime } from '../times.js'

const BRANCH_INFO = Type.Object(
  {
    label: Type.String(),
    ref: Type.String(),
    sha: Type.String(),
    repo_id: Type.Integer(),
    repo: nullable(REPOSITORY_OBJECT),
  },
  { $id: 'PRBranchInfo' },
)

export const PULL_REQUEST = Type.Object(
  {
    id: Type.Integer(),
    url: Type.String(),
    number: Type.Integer(),
    user: USER_OBJECT,
    title: Type.String(),
    body: Type.String(),
    labels: Type.Array(LABEL),
    milestone: nullable(MILESTONE),
    assignee: nullable(USER_OBJECT),
    assignees: nullable(Type.Array(USER_OBJECT)),
    requested_reviewers: nullable(Type.Array(USER_OBJECT)),
    requested_reviewers_teams: nullable(Type.Array(TEAM_OBJECT)),
    state: Type.Enum(['open', 'closed']),
    draft: Type.Boolean(),
    is_locked: Type.Boolean(),
    comments: Type.Integer(),
    review_comments: omissible(Type.Integer()),
    additions: omissible(Type.Integer()),
    deletions: omissible(Type.Integer()),
    changed_files: omissible(Type.Integer()),
    html_url: Type.String(),
    diff_url: Type.String(),
    patch_url: Type.String(),
    mergeable: Type.Boolean(),
    merged: Type.Boolean(),
    merged_at: nullable(TIME),
    merge_commit_sha: nullable(Type.String()),
    merged_by: nullable(USER_OBJECT),
    allow_maintainer_edit: Type.Boolean(),
    base: BRANCH_INFO,
    head: BRANCH_INFO,
    merge_base: Type.String(),
    due_date: nullable(TIME),
    created_at: nullable(TIME),
    updated_at: nullable(TIME),
    closed_at: nullable(TIME),
    pin_order: Type.Integer(),
  },
  { $id: 'PullRequest' },
)

type PullObject = Static<typeof PULL_REQUEST>
type BranchInfo = Static<typeof BRANCH_INFO>
type Grant = Grants['repository']

/** Returns pull requests of one repository as the caller sees them. */
export async function pullObjects(
  context: Context,
  grant: Grant,
  states: readonly PullState[],
): Promise<readonly PullObject[]> {
  if (states.length === 0) return []
  const { db } = context
  const ids = states.map(({ pull }) => pull.id)
  const [issues, requests, comments, repository] = [
    await issueObjects(
      context,
      grant,
      states.map(({ issue }) => issue),
    ),
    await requestsOfPulls(db, ids),
    await countReviewComments(db, ids),
    await repositoryObject(context, grant.repository, grant.modes),
  ]
  const heads = await headObjects(context, grant, states)
  const people = await findOwnersById(db, [
    ...states.flatMap(({ pull }) => (pull.mergedById === undefined ? [] : [pull.mergedById])),
    ...[...requests.values()].flat().flatMap(({ reviewerId }) => reviewerId ?? []),
  ])
  const teams = await teamObjectsById(
    context,
    [...requests.values()].flat().flatMap(({ teamId }) => teamId ?? []),
  )
  const personOf = (id: number | undefined) =>
    personObject(context, id === undefined ? undefined : people.get(id), grant.user)
  return states.map((state, at): PullObject => {
    const issue = issues[at]
    if (issue === undefined) throw new Error('the issue of a pull request has no object')
    const { pull } = state
    const asked = requests.get(pull.id) ?? []
    const reviewers = asked
      .filter(({ teamId }) => teamId === undefined)
      .map(({ reviewerId }) => personOf(reviewerId))
    const askedTeams = asked.flatMap(({ teamId }) => teams.get(teamId ?? 0) ?? [])
    const { assets: _, original_author: _1, original_author_id: _2, ...shared } = issue
    const { pull_request: _3, repository: _4, ref: _5, ...fields } = shared
    return {
      ...fields,
      ...plainFields(state, issue.html_url),
      ...branchesOf(state, repository, heads.get(pull.headRepositoryId ?? 0)),
      merged_by: pull.mergedAtMs === undefined ? null : personOf(pull.mergedById),
      requested_reviewers: reviewers.length === 0 ? null : reviewers,
      requested_reviewers_teams: askedTeams.length === 0 ? null : askedTeams,
      review_comments: comments.get(pull.id) ?? 0,
    }
  })
}

function plainFields({ issue, pull, baseTip }: PullState, url: string) {
  const isMerged = pull.mergedAtMs !== undefined
  const isOpen = issue.state === 'open'
  const draft = isDraft(issue.title)
  return {
    id: pull.id,
    url,
    html_url: url,
    draft,
    diff_url: `${url}.diff`,
    patch_url: `${url}.patch`,
    mergeable: isOpen && !draft && baseTip !== undefined && pull.checked.isMergeable,
    merged: isMerged,
    merged_at: pull.mergedAtMs === undefined ? null : apiTime(pull.mergedAtMs),
    merge_commit_sha: isMerged ? (pull.mergeCommit ?? null) : null,
    // The setting has no effect on a head in another repository.
    allow_maintainer_edit: pull.allowsMaintainerEdit && !isForeign({ pull }),
    merge_base: pull.mergeBase,
  }
}

/** Returns the other repositories that contain heads, by id, as far as the caller can see them. */
async function headObjects(
  context: Context,
  { who }: Grant,
  states: readonly PullState[],
): Promise<ReadonlyMap<number, RepositoryObject>> {
  const ids = new Set(states.filter(isForeign).flatMap(({ pull }) => pull.headRepositoryId ?? []))
  const seen: Repository[] = []
  for (const repository of await findRepositoriesById(context.db, [...ids])) {
    if ((await accessToLinked(context.db, who, repository)).code !== 'none') seen.push(repository)
  }
  if (seen.length === 0) return new Map()
  const objects = await repositoryObjects(context, seen, who)
  return new Map(objects.map((object) => [object.id, object]))
}

/** Returns base and head. A head repository that the caller cannot read is reported as deleted. */
function branchesOf(
  state: PullState,
  repository: RepositoryObject,
  foreign: RepositoryObject | undefined,
): { readonly base: BranchInfo; readonly head: BranchInfo } {
  const { issue, pull, headTip, baseTip } = state
  const headRepository = isForeign(state) ? foreign : repository
  const isThere = headTip !== undefined && headRepository !== undefined
  return {
    base: {
      label: pull.baseBranch,
      ref: pull.baseBranch,
      sha: baseTip ?? pull.mergeBase,
      repo_id: pull.repositoryId,
      repo: repository,
    },
    head: {
      label: pull.headBranch,
      ref: isThere ? pull.headBranch : pullReference(issue.number),
      sha: pull.headCommit,
      repo_id: headRepository?.id ?? -1,
      repo: headRepository ?? null,
    },
  }
}

/** Returns one pull request with its counts, as the caller sees it. */
export async function pullObject(
  context: Context,
  grant: Grant,
  state: PullState,
  counts: Partial<Pick<PullObject, 'additions' | 'deletions' | 'changed_files'>> = {},
): Promise<PullObject> {
  const [object] = await pullObjects(context, grant, [state])
  if (object === undefined) throw new Error('the pull request has no object')
  return { ...object, ...counts }
}
