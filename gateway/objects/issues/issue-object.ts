/** The Issue of this API, which represents pull requests as well. */

import { type Static, Type } from 'typebox'
import { findOwnersById } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import { attachmentsOfIssues } from '../../../sql/issues/issue-attachments.js'
import { assigneesOfIssues } from '../../../sql/issues/issue-people.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { labelsOfIssues } from '../../../sql/issues/labels.js'
import { findMilestonesById } from '../../../sql/issues/milestones.js'
import { pinPositions } from '../../../sql/issues/pins.js'
import { findRepositoriesById, type Repository } from '../../../sql/repositories/repositories.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { personObject, USER_OBJECT } from '../accounts/user-object.js'
import { API_PREFIX } from '../api-prefix.js'
import { PULL_REQUEST_META, pullRequestMetas } from '../pulls/pull-request-meta.js'
import { ATTACHMENT, attachmentObject } from '../releases/attachment-object.js'
import { nullable, TIME } from '../schema.js'
import { apiTime } from '../times.js'
import { LABEL, labelObject } from './label-object.js'
import { MILESTONE, milestoneObject } from './milestone-object.js'

const REPOSITORY_META = Type.Object(
  { id: Type.Integer(), name: Type.String(), owner: Type.String(), full_name: Type.String() },
  { $id: 'RepositoryMeta' },
)

export const ISSUE = Type.Object(
  {
    id: Type.Integer(),
    url: Type.String(),
    html_url: Type.String(),
    number: Type.Integer(),
    user: USER_OBJECT,
    original_author: Type.String(),
    original_author_id: Type.Integer(),
    title: Type.String(),
    body: Type.String(),
    ref: Type.String(),
    assets: Type.Array(ATTACHMENT),
    labels: Type.Array(LABEL),
    milestone: nullable(MILESTONE),
    assignee: nullable(USER_OBJECT),
    assignees: nullable(Type.Array(USER_OBJECT)),
    state: Type.Enum(['open', 'closed']),
    is_locked: Type.Boolean(),
    comments: Type.Integer(),
    created_at: TIME,
    updated_at: TIME,
    closed_at: nullable(TIME),
    due_date: nullable(TIME),
    pull_request: nullable(PULL_REQUEST_META),
    repository: REPOSITORY_META,
    pin_order: Type.Integer(),
  },
  { $id: 'Issue' },
)

type IssueObject = Static<typeof ISSUE>

/** Returns issues of one repository as the caller sees them. */
export async function issueObjects(
  context: Context,
  { repository, user }: Pick<Grants['repository'], 'repository' | 'user'>,
  issues: readonly Issue[],
): Promise<readonly IssueObject[]> {
  return await objectsOf(context, issues, { viewer: user, repositoryOf: () => repository })
}

/** Returns one issue as the caller sees it. */
export async function issueObject(
  context: Context,
  grant: Pick<Grants['repository'], 'repository' | 'user'>,
  issue: Issue,
): Promise<IssueObject> {
  const [object] = await issueObjects(context, grant, [issue])
  if (object === undefined) throw new Error('the issue has no object')
  return object
}

/** Returns issues of any repositories, all of which `viewer` can read. */
export async function foundIssueObjects(
  context: Context,
  issues: readonly Issue[],
  viewer: User | undefined,
): Promise<readonly IssueObject[]> {
  const ids = new Set(issues.map(({ repositoryId }) => repositoryId))
  const found = await findRepositoriesById(context.db, [...ids])
  const repositories = new Map(found.map((repository) => [repository.id, repository]))
  // If a repository was deleted after the search, its issues are deleted too.
  const present = issues.filter(({ repositoryId }) => repositories.has(repositoryId))
  const repositoryOf = ({ repositoryId }: Issue) => repositories.get(repositoryId) as Repository
  return await objectsOf(context, present, { viewer, repositoryOf })
}

interface IssueView {
  readonly viewer: User | undefined
  readonly repositoryOf: (issue: Issue) => Repository
}

/**
 * Returns issues of any repositories as `viewer` sees them. Labels, milestones and users are read
 * for all issues together.
 */
async function objectsOf(
  context: Context,
  issues: readonly Issue[],
  { viewer, repositoryOf }: IssueView,
): Promise<readonly IssueObject[]> {
  const { db } = context
  const ids = issues.map(({ id }) => id)
  const defined = (values: readonly (number | undefined)[]) =>
    values.filter((value) => value !== undefined)
  const labels = await labelsOfIssues(db, ids)
  const attachments = await attachmentsOfIssues(db, ids)
  const pins = await pinPositions(db, ids)
  const assignees = await assigneesOfIssues(db, ids)
  const milestones = await findMilestonesById(
    db,
    defined(issues.map(({ milestoneId }) => milestoneId)),
  )
  const authors = await findOwnersById(db, defined(issues.map(({ authorId }) => authorId)))
  const pulls = await pullRequestMetas(context, issues, repositoryOf)
  return issues.map((issue) => {
    const repository = repositoryOf(issue)
    const milestone = milestones.get(issue.milestoneId ?? 0)
    const users = assignees.get(issue.id) ?? []
    const assigned = users.map((person) => personObject(context, person, viewer))
    return {
      ...plainFields(context, issue, repository),
      assets: attachments
        .filter(({ issueId }) => issueId === issue.id)
        .map((attachment) => attachmentObject(context, attachment)),
      pin_order: pins.get(issue.id) ?? 0,
      user: personObject(context, authors.get(issue.authorId ?? 0), viewer),
      labels: (labels.get(issue.id) ?? []).map((label) => labelObject(context, label, repository)),
      milestone: milestone === undefined ? null : milestoneObject(milestone),
      assignee: assigned[0] ?? null,
      assignees: assigned.length === 0 ? null : assigned,
      pull_request: pulls.get(issue.id) ?? null,
    }
  })
}

function plainFields(context: Context, issue: Issue, repository: Repository) {
  const { baseUrl } = context.settings.http
  const owner = repository.owner.name
  const full_name = `${owner}/${repository.name}`
  const kind = issue.isPull ? 'pulls' : 'issues'
  return {
    id: issue.id,
    url: `${baseUrl}${API_PREFIX}/repos/${full_name}/issues/${issue.number}`,
    html_url: `${baseUrl}/${full_name}/${kind}/${issue.number}`,
    number: issue.number,
    original_author: issue.originalAuthor.name,
    original_author_id: issue.originalAuthor.id,
    title: issue.title,
    body: issue.content,
    ref: issue.ref,
    state: issue.state,
    is_locked: issue.isLocked,
    comments: issue.commentsCount,
    created_at: apiTime(issue.createdAtMs),
    updated_at: apiTime(issue.updatedAtMs),
    closed_at: issue.closedAtMs === undefined ? null : apiTime(issue.closedAtMs),
    due_date: issue.dueAtMs === undefined ? null : apiTime(issue.dueAtMs),
    repository: { id: repository.id, name: repository.name, owner, full_name },
  }
}
