/** Notification threads: one for each user and subject, unread after an event. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { conversationsVisibleTo, IS_SERVED } from '../issues/issue-lists.js'
import type { IssueState } from '../issues/issues.js'
import { isForUser } from '../repositories/pending-transfers.js'
import { type Condition, repositoriesVisibleTo, type Viewer } from '../repositories/visibility.js'
import type { Activity } from './audiences.js'

export const NOTIFICATION_STATUSES = ['unread', 'read', 'pinned'] as const

export type NotificationStatus = (typeof NOTIFICATION_STATUSES)[number]

export interface NotificationThread {
  readonly id: number
  readonly repositoryId: number
  readonly status: NotificationStatus
  readonly updatedAtMs: number
  readonly subject: IssueSubject | ReleaseSubject | RunSubject | TransferSubject
}

export interface IssueSubject {
  readonly kind: 'issue' | 'pull'
  readonly number: number
  readonly title: string
  readonly state: IssueState | 'merged'
  /** Id of the newest comment; undefined if there is none. */
  readonly lastCommentId: number | undefined
}

export interface ReleaseSubject {
  readonly kind: 'release'
  readonly id: number
  readonly tagName: string
  readonly title: string
}

/** A run of a workflow that no pull request has started. */
export interface RunSubject {
  readonly kind: 'run'
  /** Number within the repository. */
  readonly number: number
  readonly title: string
  readonly commitId: string
}

/** The pending transfer of the thread's repository to its new owner. */
export interface TransferSubject {
  readonly kind: 'transfer'
}

/** Creates unread threads for the users. Existing threads become unread, unless they are pinned. */
export async function notifyUsers(
  db: Database,
  userIds: readonly number[],
  { repository, about }: Activity,
): Promise<void> {
  if (userIds.length === 0) return
  const nowMs = Date.now()
  const [column, id] = columnOf(about)
  const rows = userIds.map((userId) => ({
    user_id: userId,
    repository_id: repository.id,
    [column]: id,
    status: 'unread',
    created_at: nowMs,
    updated_at: nowMs,
  }))
  await db('notifications')
    .insert(rows)
    .onConflict(['user_id', column])
    .merge({
      updated_at: nowMs,
      status: db.raw("case when notifications.status = 'pinned' then 'pinned' else 'unread' end"),
    })
}

function columnOf(about: Activity['about']): readonly [string, number] {
  if ('issueId' in about) return ['issue_id', about.issueId]
  if ('transferOf' in about) return ['transfer_of', about.transferOf]
  return 'releaseId' in about ? ['release_id', about.releaseId] : ['run_id', about.runId]
}

/** Filter of threads; absent fields match every thread. */
export interface ThreadFilter {
  /**
   * User who has the threads. `viewer` is the same user: threads of repositories that the user can
   * no longer read are left out.
   */
  readonly userId: number
  readonly viewer: Viewer
  readonly id?: number | undefined
  readonly repositoryId?: number | undefined
  readonly statuses?: readonly NotificationStatus[] | undefined
  readonly kinds?: readonly NotificationThread['subject']['kind'][] | undefined
  /** Earliest time of the last change, inclusive. */
  readonly sinceMs?: number | undefined
  /** Latest time of the last change, exclusive. */
  readonly beforeMs?: number | undefined
}

/** Returns the threads that match the filter, last changed first. */
export async function listThreads(
  db: Database,
  filter: ThreadFilter,
  page: Page,
): Promise<Paged<NotificationThread>> {
  const { where, bindings } = conditionOf(filter)
  const rows = await selectRows<ThreadRow>(
    db,
    `select n.id, n.repository_id, n.status, n.updated_at, i.number, i.title, i.state, i.is_pull,
      p.merged_at, e.id as release_id, e.tag_name, e.title as release_title,
      w.number as run_number, w.title as run_title, w.workflow_file, w.commit_id, n.transfer_of,
      (select max(c.id) from comments c where c.issue_id = n.issue_id) as last_comment_id
      from ${TABLES} where ${where} order by n.updated_at desc, n.id desc limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(threadOf), total: await countThreads(db, filter) }
}

/** Returns the number of threads that match the filter. */
export async function countThreads(db: Database, filter: ThreadFilter): Promise<number> {
  const { where, bindings } = conditionOf(filter)
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from ${TABLES} where ${where}`,
    bindings,
  )
  return count?.total ?? 0
}

/**
 * Sets the status of the user's threads that match, including those that `listThreads` leaves out.
 */
export async function markThreads(
  db: Database,
  { userId, id, repositoryId, statuses, beforeMs }: Omit<ThreadFilter, 'viewer' | 'kinds'>,
  status: NotificationStatus,
): Promise<void> {
  const given = { user_id: userId, id, repository_id: repositoryId }
  const columns = Object.entries(given).filter(([, value]) => value !== undefined)
  const threads = db('notifications').where(Object.fromEntries(columns))
  if (statuses !== undefined) threads.whereIn('status', statuses)
  if (beforeMs !== undefined) threads.where('updated_at', '<', beforeMs)
  await threads.update({ status })
}

const TABLES = `notifications n join repositories r on r.id = n.repository_id
  join owners o on o.id = r.owner_id left join issues i on i.id = n.issue_id
  left join pulls p on p.issue_id = i.id left join releases e on e.id = n.release_id
  left join workflow_runs w on w.id = n.run_id`

/** Condition that leaves out disabled units of a repository, and releases that are drafts again. */
const IS_SHOWN = `((n.issue_id is not null and ${IS_SERVED}) or (e.is_draft = 0
  and instr(r.preferences, '"has_releases":false') = 0) or (n.run_id is not null
  and instr(r.preferences, '"has_actions":true') > 0) or n.transfer_of is not null)`

/** Returns a condition for the threads about something that the viewer can read. */
function subjectsVisibleTo(viewer: Viewer): Condition {
  const conversations = conversationsVisibleTo(viewer)
  const releases = repositoriesVisibleTo(viewer, 'releases')
  const runs = repositoriesVisibleTo(viewer, 'actions')
  // The repository of a transfer is visible to each user who can accept it.
  return {
    where: `(${conversations.where} or (n.release_id is not null and ${releases.where})
      or (n.run_id is not null and ${runs.where}) or (n.transfer_of is not null
      and exists (select 1 from repository_transfers x where x.repository_id = n.transfer_of
        and ${isForUser('n.user_id')})))`,
    bindings: [...conversations.bindings, ...releases.bindings, ...runs.bindings],
  }
}

const KINDS = {
  issue: 'i.is_pull = 0',
  pull: 'i.is_pull = 1',
  release: 'n.release_id is not null',
  run: 'n.run_id is not null',
  transfer: 'n.transfer_of is not null',
} as const

function conditionOf(filter: ThreadFilter): Condition {
  const { statuses, kinds } = filter
  const plain = [
    ['n.user_id = ?', filter.userId],
    ['n.id = ?', filter.id],
    ['n.repository_id = ?', filter.repositoryId],
    ['n.updated_at >= ?', filter.sinceMs],
    ['n.updated_at < ?', filter.beforeMs],
  ] as const
  const conditions: readonly Condition[] = [
    ...plain.flatMap(([where, value]) =>
      value === undefined ? [] : [{ where, bindings: [value] }],
    ),
    ...(statuses === undefined
      ? []
      : [{ where: `n.status in (${statuses.map(() => '?').join()})`, bindings: statuses }]),
    ...(kinds === undefined
      ? []
      : [
          {
            where: `(${['1 = 0', ...kinds.map((kind) => KINDS[kind])].join(' or ')})`,
            bindings: [],
          },
        ]),
    { where: IS_SHOWN, bindings: [] },
    subjectsVisibleTo(filter.viewer),
  ]
  return {
    where: conditions.map(({ where }) => where).join(' and '),
    bindings: conditions.flatMap(({ bindings }) => bindings),
  }
}

interface ThreadRow {
  readonly id: number
  readonly repository_id: number
  readonly status: NotificationStatus
  readonly updated_at: number
  readonly number: number | null
  readonly title: string | null
  readonly state: IssueState | null
  readonly is_pull: number | null
  readonly merged_at: number | null
  readonly release_id: number | null
  readonly tag_name: string | null
  readonly release_title: string | null
  readonly run_number: number | null
  readonly run_title: string | null
  readonly workflow_file: string | null
  readonly commit_id: string | null
  readonly transfer_of: number | null
  readonly last_comment_id: number | null
}

function threadOf(row: ThreadRow): NotificationThread {
  const { id, repository_id: repositoryId, status, updated_at: updatedAtMs } = row
  return { id, repositoryId, status, updatedAtMs, subject: subjectOf(row) }
}

function subjectOf(row: ThreadRow): NotificationThread['subject'] {
  if (row.release_id !== null) {
    const { release_id: id, tag_name: tagName, release_title: title } = row
    return { kind: 'release', id, tagName: tagName ?? '', title: title ?? '' }
  }
  if (row.transfer_of !== null) return { kind: 'transfer' }
  if (row.run_number !== null) {
    const title = row.run_title || (row.workflow_file ?? '')
    return { kind: 'run', number: row.run_number, title, commitId: row.commit_id ?? '' }
  }
  return {
    kind: row.is_pull === 1 ? 'pull' : 'issue',
    number: row.number ?? 0,
    title: row.title ?? '',
    state: row.merged_at === null ? (row.state ?? 'open') : 'merged',
    lastCommentId: row.last_comment_id ?? undefined,
  }
}
