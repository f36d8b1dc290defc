/** Activities of users in repositories, which feeds list and heatmaps count. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import type { RepositoryUnit } from '../repositories/team-units.js'
import { type Condition, repositoriesVisibleTo, type Viewer } from '../repositories/visibility.js'

/** Kind of an activity; the names are those of Gitea's `op_type`. */
export type ActivityKind =
  | 'create_repo'
  | 'commit_repo'
  | 'delete_branch'
  | 'push_tag'
  | 'delete_tag'
  | 'create_issue'
  | 'close_issue'
  | 'reopen_issue'
  | 'comment_issue'
  | 'create_pull_request'
  | 'close_pull_request'
  | 'reopen_pull_request'
  | 'comment_pull'
  | 'merge_pull_request'
  | 'approve_pull_request'
  | 'reject_pull_request'
  | 'publish_release'

/** Unit of the repository in which an activity happened. */
type ActivityUnit = Extract<RepositoryUnit, 'code' | 'issues' | 'pulls' | 'releases'>

export interface NewActivity {
  readonly actorId: number
  readonly repositoryId: number
  readonly kind: ActivityKind
  readonly unit: ActivityUnit
  readonly commentId?: number
  /** Full name of a branch or tag. */
  readonly refName?: string
  /** Number of an issue or pull request with a text, as in `7|Title`; or a release's title. */
  readonly content?: string
  /** 64 hexadecimal digits: an activity that is recorded twice under one key is stored once. */
  readonly key?: string
}

export interface Activity extends Required<Omit<NewActivity, 'key' | 'commentId'>> {
  readonly id: number
  readonly commentId: number | undefined
  readonly createdAtMs: number
}

/** Stores activities of one user in one repository, unless one of both was deleted meanwhile. */
export async function recordActivities(
  db: Database,
  activities: readonly NewActivity[],
): Promise<void> {
  if (activities.length === 0) return
  const rows = activities.map((activity) => ({
    actor_id: activity.actorId,
    repository_id: activity.repositoryId,
    kind: activity.kind,
    unit: activity.unit,
    comment_id: activity.commentId ?? null,
    ref_name: activity.refName ?? '',
    content: activity.content ?? '',
    created_at: Date.now(),
    event_key: activity.key ?? null,
  }))
  try {
    await db('activities').insert(rows).onConflict('event_key').ignore()
  } catch (error) {
    if (!isReferenceViolation(error)) throw error
  }
}

/** Activities that a feed contains. */
export type ActivityScope =
  | { readonly kind: 'repository'; readonly repositoryId: number }
  /** Activities in the repositories of an owner. */
  | { readonly kind: 'owner'; readonly ownerId: number }
  | { readonly kind: 'team'; readonly teamId: number }
  | {
      readonly kind: 'user'
      readonly userId: number
      /** False if the activities in repositories that the user owns or watches are included. */
      readonly isOwnOnly: boolean
    }

export interface ActivitySearch {
  readonly scope: ActivityScope
  /** Activities in units that the viewer cannot read are left out. */
  readonly viewer: Viewer
  readonly fromMs?: number | undefined
  readonly beforeMs?: number | undefined
}

/** Returns the activities that match the search, newest first. */
export async function listActivities(
  db: Database,
  search: ActivitySearch,
  page: Page,
): Promise<Paged<Activity>> {
  const { where, bindings } = conditionOf(search)
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total ${TABLES} where ${where}`,
    bindings,
  )
  const rows = await selectRows<ActivityRow>(
    db,
    `select a.* ${TABLES} where ${where} order by a.created_at desc, a.id desc limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(activityOf), total: count?.total ?? 0 }
}

/** Length of the intervals of a heatmap, with which clients can shift it to any time zone. */
const INTERVAL_MS = 900_000

/** Returns the number of activities in each interval of 15 minutes that has some. */
export async function countActivities(
  db: Database,
  search: ActivitySearch,
): Promise<readonly { readonly startMs: number; readonly count: number }[]> {
  const { where, bindings } = conditionOf(search)
  const start = `a.created_at - a.created_at % ${INTERVAL_MS}`
  const rows = await selectRows<{ start: number; total: number }>(
    db,
    `select ${start} as start, count(*) as total ${TABLES} where ${where}
      group by ${start} order by start`,
    bindings,
  )
  return rows.map((row) => ({ startMs: row.start, count: row.total }))
}

/** Removes activities of before that time; returns their number. */
export async function removeOldActivities(db: Database, beforeMs: number): Promise<number> {
  return await db('activities').where('created_at', '<', beforeMs).delete()
}

const UNITS: readonly ActivityUnit[] = ['code', 'issues', 'pulls', 'releases']

function conditionOf({ scope, viewer, fromMs, beforeMs }: ActivitySearch): Condition {
  const visible = UNITS.map((unit) => ({ unit, seen: repositoriesVisibleTo(viewer, unit) }))
  const conditions: readonly Condition[] = [
    scopeCondition(scope),
    {
      where: `(${visible.map(({ seen }) => `(a.unit = ? and ${seen.where})`).join(' or ')})`,
      bindings: visible.flatMap(({ unit, seen }) => [unit, ...seen.bindings]),
    },
    ...(fromMs === undefined ? [] : [{ where: 'a.created_at >= ?', bindings: [fromMs] }]),
    ...(beforeMs === undefined ? [] : [{ where: 'a.created_at < ?', bindings: [beforeMs] }]),
  ]
  return {
    where: conditions.map(({ where }) => where).join(' and '),
    bindings: conditions.flatMap(({ bindings }) => bindings),
  }
}

function scopeCondition(scope: ActivityScope): Condition {
  switch (scope.kind) {
    case 'repository':
      return { where: 'a.repository_id = ?', bindings: [scope.repositoryId] }
    case 'owner':
      return { where: 'r.owner_id = ?', bindings: [scope.ownerId] }
    case 'team':
      return {
        where: `(r.id in (select g.repository_id from team_repositories g where g.team_id = ?)
          or r.owner_id in (select t.organization_id from teams t
            where t.id = ? and t.includes_all_repositories = 1))`,
        bindings: [scope.teamId, scope.teamId],
      }
    default: {
      const { userId, isOwnOnly } = scope
      if (isOwnOnly) return { where: 'a.actor_id = ?', bindings: [userId] }
      return {
        where: `(a.actor_id = ? or r.owner_id = ?
          or r.id in (select w.repository_id from repository_watches w where w.user_id = ?))`,
        bindings: [userId, userId, userId],
      }
    }
  }
}

const TABLES = `from activities a join repositories r on r.id = a.repository_id
  join owners o on o.id = r.owner_id`

interface ActivityRow {
  readonly id: number
  readonly actor_id: number
  readonly repository_id: number
  readonly kind: ActivityKind
  readonly unit: ActivityUnit
  readonly comment_id: number | null
  readonly ref_name: string
  readonly content: string
  readonly created_at: number
}

function activityOf(row: ActivityRow): Activity {
  return {
    id: row.id,
    actorId: row.actor_id,
    repositoryId: row.repository_id,
    kind: row.kind,
    unit: row.unit,
    commentId: row.comment_id ?? undefined,
    refName: row.ref_name,
    content: row.content,
    createdAtMs: row.created_at,
  }
}
