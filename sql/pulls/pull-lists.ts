/** Lists of pull requests, and lookups by id or branches. */

import type { Knex } from 'knex'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { type Issue, type IssueState, selectIssues } from '../issues/issues.js'
import { findPulls, type IssueAndPull } from './pulls.js'

/** Order in the API → `order by` clause. */
const ORDERS = {
  newest: 'i.created_at desc, i.id desc',
  oldest: 'i.created_at, i.id',
  recentupdate: 'i.updated_at desc, i.id desc',
  leastupdate: 'i.updated_at, i.id',
  recentclose: 'i.closed_at desc, i.id desc',
  mostcomment: 'comments_count desc, i.id desc',
  leastcomment: 'comments_count, i.id desc',
} as const

export type PullOrder = keyof typeof ORDERS

export interface PullQuery {
  readonly page: Page
  readonly state: IssueState | 'all'
  readonly order: PullOrder
  /** Ids of labels, all of which the pull request has. */
  readonly labelIds: readonly number[]
  readonly milestoneId?: number | undefined
  readonly authorId?: number | undefined
  readonly baseBranch?: string | undefined
}

/** Returns the pull requests of a repository that match the query, in its order. */
export async function listPulls(
  db: Database,
  repositoryId: number,
  query: PullQuery,
): Promise<Paged<IssueAndPull>> {
  const { sql, bindings } = conditionOf(repositoryId, query)
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from issues i ${sql}`,
    bindings,
  )
  const issues = await selectIssues(db, `${sql} order by ${ORDERS[query.order]} limit ? offset ?`, [
    ...bindings,
    query.page.limit,
    offsetOf(query.page),
  ])
  return { entries: await withPulls(db, issues), total: count?.total ?? 0 }
}

async function withPulls(db: Database, issues: readonly Issue[]): Promise<readonly IssueAndPull[]> {
  const pulls = await findPulls(
    db,
    issues.map(({ id }) => id),
  )
  return issues.flatMap((issue) => {
    const pull = pulls.get(issue.id)
    return pull === undefined ? [] : [{ issue, pull }]
  })
}

/** Returns the merged pull request of a repository whose merge made that commit. */
export async function findPullByMerge(
  db: Database,
  repositoryId: number,
  commitId: string,
): Promise<IssueAndPull | undefined> {
  const [found] = await withPulls(
    db,
    await selectIssues(
      db,
      `join pulls p on p.issue_id = i.id where p.repository_id = ? and p.merge_commit = ?
        and p.merged_at is not null order by i.id limit 1`,
      [repositoryId, commitId],
    ),
  )
  return found
}

/** Returns the pull request with that id. */
export async function findPullById(
  db: Database,
  pullId: number,
): Promise<IssueAndPull | undefined> {
  const where = 'join pulls p on p.issue_id = i.id where p.id = ?'
  const [found] = await withPulls(db, await selectIssues(db, where, [pullId]))
  return found
}

/** Returns the open pull requests of other repositories whose head is in this one, oldest first. */
export async function listPullsFrom(
  db: Database,
  headRepositoryId: number,
): Promise<readonly IssueAndPull[]> {
  const issues = await selectIssues(
    db,
    `join pulls p on p.issue_id = i.id where p.head_repository_id = ?
      and p.repository_id <> p.head_repository_id and i.state = 'open' order by i.id`,
    [headRepositoryId],
  )
  return await withPulls(db, issues)
}

/** A branch that may be the head of pull requests. */
export interface HeadBranches {
  readonly repositoryId: number
  readonly branches: readonly string[]
}

/** Returns the open pull requests whose head is one of the branches, oldest first. */
export async function listPullsOfHeads(
  db: Database,
  { repositoryId, branches }: HeadBranches,
  limit: number,
): Promise<readonly IssueAndPull[]> {
  if (branches.length === 0) return []
  const issues = await selectIssues(
    db,
    `join pulls p on p.issue_id = i.id where p.head_repository_id = ? and i.state = 'open'
      and p.head_branch in (${branches.map(() => '?').join()}) order by i.id limit ?`,
    [repositoryId, ...branches, limit],
  )
  return await withPulls(db, issues)
}

/** Returns true if an open pull request of another repository has its head in this one. */
export async function hasPullsElsewhere(db: Database, headRepositoryId: number): Promise<boolean> {
  const rows = await selectRows<{ id: number }>(
    db,
    `select p.id from pulls p join issues i on i.id = p.issue_id where p.head_repository_id = ?
      and p.repository_id <> p.head_repository_id and i.state = 'open' limit 1`,
    [headRepositoryId],
  )
  return rows.length > 0
}

/** Returns true if a pull request of this author was merged into the repository. */
export async function hasMergedPull(
  db: Database,
  repositoryId: number,
  authorId: number,
): Promise<boolean> {
  const rows = await selectRows<{ id: number }>(
    db,
    `select p.id from pulls p join issues i on i.id = p.issue_id where p.repository_id = ?
      and i.author_id = ? and p.merged_at is not null limit 1`,
    [repositoryId, authorId],
  )
  return rows.length > 0
}

/**
 * Returns the pull request between two branches: the newest open one, or else the newest closed
 * one.
 */
export async function findPullBetween(
  db: Database,
  repositoryId: number,
  branches: { readonly base: string; readonly head: string; readonly headRepositoryId: number },
): Promise<IssueAndPull | undefined> {
  const issues = await selectIssues(
    db,
    `join pulls p on p.issue_id = i.id
      where p.repository_id = ? and p.base_branch = ? and p.head_branch = ?
      and p.head_repository_id = ? order by i.state desc, i.id desc limit 1`,
    [repositoryId, branches.base, branches.head, branches.headRepositoryId],
  )
  const [found] = await withPulls(db, issues)
  return found
}

function conditionOf(
  repositoryId: number,
  { state, labelIds, milestoneId, authorId, baseBranch }: PullQuery,
): { readonly sql: string; readonly bindings: readonly Knex.RawBinding[] } {
  const conditions: (readonly [sql: string, ...bindings: Knex.RawBinding[]])[] = [
    ['p.repository_id = ?', repositoryId],
    ...(state === 'all' ? [] : [['i.state = ?', state] as const]),
    ...(milestoneId === undefined ? [] : [['i.milestone_id = ?', milestoneId] as const]),
    ...(authorId === undefined ? [] : [['i.author_id = ?', authorId] as const]),
    ...(baseBranch === undefined ? [] : [['p.base_branch = ?', baseBranch] as const]),
    ...labelIds.map((id) => [HAS_LABEL, id] as const),
  ]
  return {
    sql: `join pulls p on p.issue_id = i.id where ${conditions.map(([sql]) => sql).join(' and ')}`,
    bindings: conditions.flatMap(([, ...bindings]) => bindings),
  }
}

const HAS_LABEL = 'exists (select 1 from issue_labels x where x.issue_id = i.id and x.label_id = ?)'
