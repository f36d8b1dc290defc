/** Comments on issues and pull requests. */

import type { Knex } from 'knex'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orNotFound } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { nextEntryTimeMs } from './entry-times.js'
import { noteMentions } from './issue-people.js'
import type { OriginalAuthor } from './issues.js'

export interface Comment {
  readonly id: number
  readonly issueId: number
  readonly repositoryId: number
  /** Number of the issue or pull request. */
  readonly issueNumber: number
  readonly isPull: boolean
  /** Undefined if the account was deleted. */
  readonly authorId: number | undefined
  readonly originalAuthor: OriginalAuthor
  readonly content: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export interface NewComment {
  readonly issueId: number
  readonly authorId: number
  readonly content: string
}

/** Adds a comment to an issue. Throws `not_found` if the issue does not exist. */
export async function createComment(
  db: Database,
  { issueId, authorId, content }: NewComment,
): Promise<Comment> {
  const nowMs = nextEntryTimeMs()
  const columns = { issue_id: issueId, author_id: authorId, content }
  return await transaction(db, async (trx) => {
    const [id] = await orNotFound('The issue does not exist.', () =>
      trx('comments').insert({ ...columns, created_at: nowMs, updated_at: nowMs }),
    )
    await noteMentions(trx, issueId, content)
    const [created] = await selectComments(trx, 'where c.id = ?', [id ?? 0])
    if (created === undefined) throw new Error('The inserted comment was not found.')
    return created
  })
}

/** Returns a comment of a repository by its id. */
export async function findComment(
  db: Database,
  repositoryId: number,
  commentId: number,
): Promise<Comment | undefined> {
  const [found] = await selectComments(db, 'where c.id = ? and i.repository_id = ?', [
    commentId,
    repositoryId,
  ])
  return found
}

/** Returns comments by their ids, of any issues. */
export async function findComments(
  db: Database,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Comment>> {
  if (ids.length === 0) return new Map()
  const found = await selectComments(db, `where c.id in (${ids.map(() => '?').join()})`, ids)
  return new Map(found.map((comment) => [comment.id, comment]))
}

export interface CommentQuery {
  /** Earliest time of the last change, inclusive. */
  readonly sinceMs?: number | undefined
  /** Latest time of the last change, exclusive. */
  readonly beforeMs?: number | undefined
  /** Undefined for all comments. */
  readonly page?: Page
}

/** Returns the comments of an issue, oldest first. */
export async function listComments(
  db: Database,
  issueId: number,
  { sinceMs, beforeMs, page }: CommentQuery,
): Promise<readonly Comment[]> {
  const bindings = [issueId, ...boundsOf(sinceMs), ...boundsOf(beforeMs)]
  const condition = `where c.issue_id = ? and ${CHANGED} ${OLDEST_FIRST}`
  if (page === undefined) return await selectComments(db, condition, bindings)
  const bounds = [page.limit, offsetOf(page)]
  return await selectComments(db, `${condition} limit ? offset ?`, [...bindings, ...bounds])
}

/** Returns the comments of a repository, oldest first, on issues, on pull requests or on both. */
export async function listRepositoryComments(
  db: Database,
  repositoryId: number,
  {
    page,
    isPull,
    sinceMs,
    beforeMs,
  }: CommentQuery & { readonly page: Page; readonly isPull: boolean | undefined },
): Promise<Paged<Comment>> {
  const where = `where i.repository_id = ? and (? is null or i.is_pull = ?) and ${CHANGED}`
  const kind = isPull === undefined ? null : Number(isPull)
  const bindings = [repositoryId, kind, kind, ...boundsOf(sinceMs), ...boundsOf(beforeMs)]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from ${COMMENT_TABLES} ${where}`,
    bindings,
  )
  const entries = await selectComments(db, `${where} ${OLDEST_FIRST} limit ? offset ?`, [
    ...bindings,
    page.limit,
    offsetOf(page),
  ])
  return { entries, total: count?.total ?? 0 }
}

const CHANGED = '(? is null or c.updated_at >= ?) and (? is null or c.updated_at < ?)'
const OLDEST_FIRST = 'order by c.created_at, c.id'

function boundsOf(timeMs: number | undefined): readonly (number | null)[] {
  return [timeMs ?? null, timeMs ?? null]
}

/** Changes the text of a comment. Returns false if there is no such comment. */
export async function updateComment(
  db: Database,
  { id, issueId }: Pick<Comment, 'id' | 'issueId'>,
  content: string,
): Promise<boolean> {
  return await transaction(db, async (trx) => {
    const changed = await trx('comments')
      .where({ id })
      .update({ content, updated_at: nextEntryTimeMs() })
    if (changed > 0) await noteMentions(trx, issueId, content)
    return changed > 0
  })
}

/** Deletes a comment. Returns false if there is no such comment. */
export async function deleteComment(db: Database, commentId: number): Promise<boolean> {
  return (await db('comments').where({ id: commentId }).delete()) > 0
}

const COMMENT_TABLES = 'comments c join issues i on i.id = c.issue_id'

async function selectComments(
  db: Database,
  condition: string,
  bindings: readonly Knex.RawBinding[],
): Promise<readonly Comment[]> {
  const rows = await selectRows<CommentRow>(
    db,
    `select c.id, c.issue_id, c.author_id, c.content, c.created_at, c.updated_at,
      c.original_author, c.original_author_id, i.number as issue_number, i.is_pull,
      i.repository_id from ${COMMENT_TABLES} ${condition}`,
    bindings,
  )
  return rows.map((row) => ({
    id: row.id,
    issueId: row.issue_id,
    repositoryId: row.repository_id,
    issueNumber: row.issue_number,
    isPull: row.is_pull === 1,
    authorId: row.author_id ?? undefined,
    originalAuthor: { name: row.original_author, id: row.original_author_id },
    content: row.content,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  }))
}

interface CommentRow {
  readonly id: number
  readonly issue_id: number
  readonly repository_id: number
  readonly author_id: number | null
  readonly content: string
  readonly original_author: string
  readonly original_author_id: number
  readonly created_at: number
  readonly updated_at: number
  readonly issue_number: number
  readonly is_pull: number
}
