/** Issues, and the part of pull requests that is the same. */

import type { Knex } from 'knex'
import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { recordIssueEvents } from './issue-events.js'
import { addIssueLabels } from './issue-labels.js'
import { addIssueAssignees, noteMentions, replaceIssueAssignees } from './issue-people.js'
import { eventsOfUpdate } from './update-events.js'

export type IssueState = 'open' | 'closed'

/**
 * Author on the server that the issue was imported from; an empty name and 0 if it was created
 * here.
 */
export interface OriginalAuthor {
  readonly name: string
  readonly id: number
}

export interface Issue {
  readonly id: number
  readonly repositoryId: number
  /** Number within the repository; issues and pull requests share one sequence. */
  readonly number: number
  readonly isPull: boolean
  readonly title: string
  readonly content: string
  /** Undefined if the account was deleted. */
  readonly authorId: number | undefined
  readonly originalAuthor: OriginalAuthor
  readonly state: IssueState
  readonly milestoneId: number | undefined
  /** Branch or tag that the author has chosen. */
  readonly ref: string
  readonly dueAtMs: number | undefined
  readonly isLocked: boolean
  readonly commentsCount: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly closedAtMs: number | undefined
}

export interface NewIssue {
  readonly repositoryId: number
  readonly isPull: boolean
  readonly title: string
  readonly content: string
  readonly authorId: number
  readonly state?: IssueState
  readonly milestoneId?: number | undefined
  readonly ref?: string | undefined
  readonly dueAtMs?: number | undefined
  readonly labelIds?: readonly number[]
  readonly assigneeIds?: readonly number[]
}

/** Changes to an issue; absent fields keep their value, and null clears it. */
export interface IssuePatch {
  readonly title?: string | undefined
  readonly content?: string | undefined
  readonly state?: IssueState | undefined
  readonly milestoneId?: number | null | undefined
  readonly ref?: string | undefined
  readonly dueAtMs?: number | null | undefined
  readonly isLocked?: boolean | undefined
  /** Why the issue is locked, for its event. */
  readonly lockReason?: string | undefined
  /** True if the pull request is closed by its merge. */
  readonly isMerged?: boolean
  /** Account whose change this is; undefined if no user caused it. */
  readonly actorId?: number | undefined
  /** Ids of all assignees after the change. */
  readonly assigneeIds?: readonly number[] | undefined
}

/** Issue before a change, and the changes of its assignees. */
export interface IssueUpdate {
  readonly before: Issue
  /** Ids of added assignees. */
  readonly assigned: readonly number[]
  /** Ids of removed assignees. */
  readonly unassigned: readonly number[]
}

/**
 * Creates an issue with the next number of its repository; numbers of deleted issues are not
 * reused. Throws `not_found` if the repository does not exist, and `invalid` for a milestone or
 * label that this repository does not have.
 */
export async function createIssue(db: Database, issue: NewIssue): Promise<Issue> {
  const nowMs = Date.now()
  const { repositoryId, title, content, state = 'open' } = issue
  return await transaction(db, async (trx) => {
    const number = await takeNumber(trx, repositoryId)
    if (issue.milestoneId !== undefined) await checkMilestone(trx, repositoryId, issue.milestoneId)
    const [id] = await trx('issues').insert({
      repository_id: repositoryId,
      number,
      is_pull: issue.isPull,
      title,
      content,
      author_id: issue.authorId,
      state,
      milestone_id: issue.milestoneId ?? null,
      ref: issue.ref ?? '',
      due_at: issue.dueAtMs ?? null,
      is_locked: false,
      created_at: nowMs,
      updated_at: nowMs,
      closed_at: state === 'closed' ? nowMs : null,
    })
    if (id === undefined) throw new Error('The insert returned no id.')
    await addDetails(trx, id, issue)
    await noteMentions(trx, id, `${title}\n${content}`)
    const created = await findIssue(trx, repositoryId, number)
    if (created === undefined) throw new Error('The inserted issue was not found.')
    return created
  })
}

/** Adds labels and assignees, and records them and the milestone as the author's changes. */
async function addDetails(trx: Database, issueId: number, issue: NewIssue): Promise<void> {
  const { repositoryId, authorId: actorId, milestoneId, labelIds = [], assigneeIds = [] } = issue
  await addIssueLabels(trx, { id: issueId, repositoryId, actorId }, labelIds)
  await addIssueAssignees(trx, issueId, assigneeIds)
  const milestones = milestoneId === undefined ? [] : [{ milestoneId }]
  await recordIssueEvents(trx, [
    ...milestones.map((details) => ({ issueId, actorId, kind: 'milestone' as const, details })),
    ...[...new Set(assigneeIds)].map((assigneeId) => {
      return { issueId, actorId, kind: 'assignees' as const, details: { assigneeId } }
    }),
  ])
}

/**
 * Returns the next number. The lock of the repository's row excludes other callers until the
 * transaction ends.
 */
async function takeNumber(trx: Database, repositoryId: number): Promise<number> {
  const repository = await trx('repositories').where({ id: repositoryId }).forUpdate().first('id')
  if (repository === undefined) throw new Failure('not_found', 'The repository does not exist.')
  const row: { last_number: number } | undefined = await trx('issue_numbers')
    .where({ repository_id: repositoryId })
    .first('last_number')
  const number = (row?.last_number ?? 0) + 1
  if (row === undefined) {
    await trx('issue_numbers').insert({ repository_id: repositoryId, last_number: number })
  } else {
    await trx('issue_numbers')
      .where({ repository_id: repositoryId })
      .update({ last_number: number })
  }
  return number
}

async function checkMilestone(
  trx: Database,
  repositoryId: number,
  milestoneId: number,
): Promise<void> {
  const found = await trx('milestones')
    .where({ id: milestoneId, repository_id: repositoryId })
    .first('id')
  if (found === undefined) throw new Failure('invalid', 'The milestone does not exist.')
}

/** Returns the issue or pull request with that number. */
export async function findIssue(
  db: Database,
  repositoryId: number,
  number: number,
): Promise<Issue | undefined> {
  const [found] = await selectIssues(db, 'where i.repository_id = ? and i.number = ?', [
    repositoryId,
    number,
  ])
  return found
}

/** Returns issues and pull requests of any repositories by their ids. */
export async function findIssuesById(
  db: Database,
  ids: readonly number[],
): Promise<readonly Issue[]> {
  if (ids.length === 0) return []
  return await selectIssues(db, `where i.id in (${ids.map(() => '?').join()}) order by i.id`, ids)
}

/**
 * Changes an issue. Throws `not_found` if it does not exist, and `invalid` for a milestone of
 * another repository.
 */
export async function updateIssue(
  db: Database,
  issueId: number,
  patch: IssuePatch,
): Promise<IssueUpdate> {
  return await transaction(db, async (trx) => {
    await trx('issues').where({ id: issueId }).forUpdate().first('id')
    const [before] = await selectIssues(trx, 'where i.id = ?', [issueId])
    if (before === undefined) throw new Failure('not_found', 'The issue does not exist.')
    if (patch.milestoneId) await checkMilestone(trx, before.repositoryId, patch.milestoneId)
    await trx('issues').where({ id: issueId }).update(columnsOf(patch, before))
    if (patch.state === 'closed' && before.isPull) await forgetMerge(trx, issueId)
    if (patch.title !== undefined || patch.content !== undefined) {
      const { title = before.title, content = before.content } = patch
      await noteMentions(trx, issueId, `${title}\n${content}`)
    }
    const people =
      patch.assigneeIds === undefined
        ? { assigned: [], unassigned: [] }
        : await replaceIssueAssignees(trx, issueId, patch.assigneeIds)
    await recordIssueEvents(trx, eventsOfUpdate(patch, { before, ...people }))
    return { before, ...people }
  })
}

/** Cancels the scheduled merge of a closed pull request; reopening does not restore it. */
async function forgetMerge(trx: Database, issueId: number): Promise<void> {
  await trx('scheduled_merges')
    .whereIn('pull_id', trx('pulls').where({ issue_id: issueId }).select('id'))
    .delete()
}

function columnsOf(patch: IssuePatch, before: Issue): Record<string, Knex.Value> {
  const nowMs = Date.now()
  const isNewState = patch.state !== undefined && patch.state !== before.state
  const columns = {
    title: patch.title,
    content: patch.content,
    state: patch.state,
    closed_at: isNewState ? (patch.state === 'closed' ? nowMs : null) : undefined,
    milestone_id: patch.milestoneId,
    ref: patch.ref,
    due_at: patch.dueAtMs,
    is_locked: patch.isLocked,
    updated_at: nowMs,
  }
  const given = Object.entries(columns).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as Record<string, Knex.Value>
}

/** Sets the time of the last change of an issue to now. */
export async function touchIssue(db: Database, issueId: number): Promise<void> {
  await db('issues').where({ id: issueId }).update({ updated_at: Date.now() })
}

/** Deletes an issue with its comments. Returns false if there is no such issue. */
export async function deleteIssue(db: Database, issueId: number): Promise<boolean> {
  return await transaction(db, async (trx) => {
    return (await trx('issues').where({ id: issueId }).delete()) > 0
  })
}

export interface OpenIssues {
  readonly issues: number
  readonly pulls: number
}

/** Returns a function from a repository's id to its numbers of open issues and pull requests. */
export async function countOpenIssues(
  db: Database,
  repositoryIds: readonly number[],
): Promise<(repositoryId: number) => OpenIssues> {
  if (repositoryIds.length === 0) return () => NONE_OPEN
  const rows = await selectRows<{ repository_id: number; is_pull: number; total: number }>(
    db,
    `select repository_id, is_pull, count(*) as total from issues
      where repository_id in (${repositoryIds.map(() => '?').join()}) and state = 'open'
      group by repository_id, is_pull`,
    repositoryIds,
  )
  if (rows.length === 0) return () => NONE_OPEN
  const totalOf = (id: number, isPull: number) =>
    rows.find((row) => row.repository_id === id && row.is_pull === isPull)?.total ?? 0
  return (id) => ({ issues: totalOf(id, 0), pulls: totalOf(id, 1) })
}

const NONE_OPEN: OpenIssues = { issues: 0, pulls: 0 }

const SELECT_ISSUES = `select i.id, i.repository_id, i.number, i.is_pull, i.title, i.content,
  i.author_id, i.state, i.milestone_id, i.ref, i.due_at, i.is_locked, i.created_at, i.updated_at,
  i.closed_at, i.original_author, i.original_author_id,
  (select count(*) from comments c where c.issue_id = i.id) as comments_count
  from issues i`

/** Returns the issues, selected from the alias `i`, for an SQL clause that starts with `where`. */
export async function selectIssues(
  db: Database,
  condition: string,
  bindings: readonly Knex.RawBinding[],
): Promise<readonly Issue[]> {
  const rows = await selectRows<IssueRow>(db, `${SELECT_ISSUES} ${condition}`, bindings)
  return rows.map(issueOf)
}

interface IssueRow {
  readonly id: number
  readonly repository_id: number
  readonly number: number
  readonly is_pull: number
  readonly title: string
  readonly content: string
  readonly author_id: number | null
  readonly state: IssueState
  readonly milestone_id: number | null
  readonly ref: string
  readonly due_at: number | null
  readonly is_locked: number
  readonly comments_count: number
  readonly created_at: number
  readonly updated_at: number
  readonly closed_at: number | null
  readonly original_author: string
  readonly original_author_id: number
}

function issueOf(row: IssueRow): Issue {
  return {
    id: row.id,
    repositoryId: row.repository_id,
    number: row.number,
    isPull: row.is_pull === 1,
    title: row.title,
    content: row.content,
    authorId: row.author_id ?? undefined,
    originalAuthor: { name: row.original_author, id: row.original_author_id },
    state: row.state,
    milestoneId: row.milestone_id ?? undefined,
    ref: row.ref,
    dueAtMs: row.due_at ?? undefined,
    isLocked: row.is_locked === 1,
    commentsCount: row.comments_count,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
    closedAtMs: row.closed_at ?? undefined,
  }
}
