/** Audiences of notifications: participants and watchers who can read the repository. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { RowPage } from '../database/page.js'
import { recipientsOf } from '../repositories/pending-transfers.js'
import type { Repository } from '../repositories/repositories.js'
import { type RepositoryUnit, teamGives } from '../repositories/team-units.js'
import type { Condition } from '../repositories/visibility.js'

/** Event that users are notified of. */
export interface Activity {
  readonly repository: Repository
  /** User who caused the event, and is not notified of it; undefined if there is none. */
  readonly actorId: number | undefined
  readonly about: AboutIssue | AboutRelease | AboutRun | AboutTransfer
}

export interface AboutIssue {
  readonly issueId: number
  readonly isPull: boolean
  /**
   * Recipients: all participants and watchers, or only the assignees, the requested reviewers or
   * one user.
   */
  readonly to: 'everybody' | 'assignees' | 'reviewers' | OneUser
}

interface OneUser {
  readonly userId: number
}

export interface AboutRun {
  readonly runId: number
  readonly to: OneUser
}

export interface AboutRelease {
  readonly releaseId: number
  /** Users whom the release's text mentions; they are notified besides the watchers. */
  readonly mentionedIds: readonly number[]
}

/** A pending transfer, of which the users who can accept it are notified. */
export interface AboutTransfer {
  /** Id of the repository. */
  readonly transferOf: number
}

/**
 * Returns the ids of the next recipients in ascending order: up to `limit` ids after `afterId`.
 * Leaves out the actor, users who have unsubscribed, and users who cannot read the repository.
 */
export async function listAudience(
  db: Database,
  { repository, actorId, about }: Activity,
  { afterId, limit }: RowPage,
): Promise<readonly number[]> {
  const people = peopleOf(repository.id, about)
  // A repository that is offered to a user is visible to them.
  const readers = 'transferOf' in about ? ACTIVE_USERS : readersOf(repository, unitOf(about))
  const unsubscribed =
    'issueId' in about ? [{ where: NOT_UNSUBSCRIBED, bindings: [about.issueId] }] : []
  const conditions: readonly Condition[] = [
    { where: 'x.user_id > ? and x.user_id <> ?', bindings: [afterId, actorId ?? 0] },
    readers,
    ...unsubscribed,
  ]
  const rows = await selectRows<{ user_id: number }>(
    db,
    `select x.user_id from (${people.where}) x join users u on u.owner_id = x.user_id
      where ${conditions.map(({ where }) => where).join(' and ')} order by x.user_id limit ?`,
    [...people.bindings, ...conditions.flatMap(({ bindings }) => bindings), limit],
  )
  return rows.map((row) => row.user_id)
}

const NOT_UNSUBSCRIBED = `not exists (select 1 from issue_subscriptions s
  where s.issue_id = ? and s.user_id = x.user_id and s.is_subscribed = 0)`

/**
 * Returns true if a user is notified of an issue: by their subscription, or else because they watch
 * the repository or participate.
 */
export async function isNotifiedOfIssue(
  db: Database,
  {
    issueId,
    repositoryId,
    userId,
  }: { readonly issueId: number; readonly repositoryId: number; readonly userId: number },
): Promise<boolean> {
  const [said] = await selectRows<{ is_subscribed: number }>(
    db,
    'select is_subscribed from issue_subscriptions where issue_id = ? and user_id = ?',
    [issueId, userId],
  )
  if (said !== undefined) return said.is_subscribed === 1
  const people = peopleOf(repositoryId, { issueId, to: 'everybody' })
  const rows = await selectRows(db, `select 1 from (${people.where}) x where x.user_id = ?`, [
    ...people.bindings,
    userId,
  ])
  return rows.length > 0
}

function unitOf(about: Exclude<Activity['about'], AboutTransfer>): RepositoryUnit {
  if ('releaseId' in about) return 'releases'
  if ('runId' in about) return 'actions'
  return about.isPull ? 'pulls' : 'issues'
}

/** Returns a query for the distinct ids of all candidates. */
function peopleOf(
  repositoryId: number,
  about: Omit<AboutIssue, 'isPull'> | AboutRelease | AboutRun | AboutTransfer,
): Condition {
  if ('transferOf' in about) return recipientsOf(about.transferOf)
  if ('releaseId' in about) {
    const { mentionedIds } = about
    const places = mentionedIds.map(() => '?').join()
    const mentioned =
      mentionedIds.length === 0
        ? ''
        : ` union select owner_id as user_id from users where owner_id in (${places})`
    return { where: `${SELECT_WATCHERS}${mentioned}`, bindings: [repositoryId, ...mentionedIds] }
  }
  if ('runId' in about) return oneUser(about.to)
  const { issueId, to } = about
  if (typeof to === 'object') return oneUser(to)
  if (to !== 'everybody') return { where: ASKED[to], bindings: [issueId] }
  return {
    where: [SELECT_WATCHERS, ...SELECT_PARTICIPANTS].join(' union '),
    bindings: [repositoryId, ...SELECT_PARTICIPANTS.map(() => issueId)],
  }
}

function oneUser({ userId }: OneUser): Condition {
  return { where: 'select owner_id as user_id from users where owner_id = ?', bindings: [userId] }
}

const SELECT_WATCHERS = 'select user_id from repository_watches where repository_id = ?'

const SELECT_ASSIGNEES = 'select user_id from issue_assignees where issue_id = ?'

const SELECT_REVIEWERS = `select v.reviewer_id as user_id from reviews v
  join pulls p on p.id = v.pull_id where p.issue_id = ?`

const ASKED = {
  assignees: SELECT_ASSIGNEES,
  reviewers: `${SELECT_REVIEWERS} and v.state = 'REQUEST_REVIEW'`,
} as const

/**
 * Queries for the participants of an issue. A mentioned user stays one even if the text changes.
 */
const SELECT_PARTICIPANTS = [
  'select author_id as user_id from issues where id = ?',
  SELECT_ASSIGNEES,
  'select user_id from issue_mentions where issue_id = ?',
  'select author_id as user_id from comments where issue_id = ?',
  `${SELECT_REVIEWERS} and v.state <> 'PENDING'`,
  'select user_id from issue_subscriptions where issue_id = ? and is_subscribed = 1',
]

const ACTIVE_USERS: Condition = {
  where: 'u.is_active = 1 and u.is_login_prohibited = 0',
  bindings: [],
}

/**
 * Returns a condition for the active users `u` who can read a unit of a repository. Must agree with
 * `accessToRepository`.
 */
function readersOf({ id, isPrivate, owner }: Repository, unit: RepositoryUnit): Condition {
  if (!isPrivate && owner.visibility !== 'private') return ACTIVE_USERS
  const ofTeams = (part: RepositoryUnit): Condition => ({
    where: `u.owner_id in (select m.user_id from team_members m join teams t on t.id = m.team_id
      left join team_repositories g on g.team_id = t.id and g.repository_id = ?
      where t.organization_id = ? and (? = 0 or t.permission = 'owner'
        or (${teamGives(part)} and (t.includes_all_repositories = 1 or g.team_id is not null))))`,
    bindings: [id, owner.id, Number(isPrivate)],
  })
  const teams = (unit === 'pulls' ? (['pulls', 'code'] as const) : [unit]).map(ofTeams)
  return {
    where: `${ACTIVE_USERS.where} and (u.is_admin = 1 or u.owner_id = ?
      or u.owner_id in (select user_id from collaborators where repository_id = ?)
      or (${teams.map(({ where }) => where).join(' and ')}))`,
    bindings: [owner.id, id, ...teams.flatMap(({ bindings }) => bindings)],
  }
}
