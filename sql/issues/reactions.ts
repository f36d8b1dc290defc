/** Reactions of users to issues and comments, such as `+1`. */

import { USER_COLUMNS, USER_TABLES, type User, type UserRow, userOf } from '../accounts/users.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation, orNotFound } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

/** Issue or comment that has the reaction. */
export type ReactionSubject = { readonly issueId: number } | { readonly commentId: number }

export interface Reaction {
  readonly user: User
  readonly content: string
  readonly createdAtMs: number
}

/**
 * Adds a reaction. Returns false if the user has already reacted with this content. Throws
 * `not_found` if the subject does not exist.
 */
export async function addReaction(
  db: Database,
  subject: ReactionSubject,
  { userId, content }: { readonly userId: number; readonly content: string },
): Promise<boolean> {
  const { table, column, id } = placeOf(subject)
  try {
    await orNotFound('The issue or comment does not exist.', () =>
      db(table).insert({ [column]: id, user_id: userId, content, created_at: Date.now() }),
    )
    return true
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    return false
  }
}

/** Removes a reaction. Returns false if there is no such reaction. */
export async function removeReaction(
  db: Database,
  subject: ReactionSubject,
  { userId, content }: { readonly userId: number; readonly content: string },
): Promise<boolean> {
  const { table, column, id } = placeOf(subject)
  return (
    (await db(table)
      .where({ [column]: id, user_id: userId, content })
      .delete()) > 0
  )
}

/** Returns the reactions to a subject, oldest first. */
export async function listReactions(
  db: Database,
  subject: ReactionSubject,
  page: Page,
): Promise<Paged<Reaction>> {
  const { table, column, id } = placeOf(subject)
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from ${table} where ${column} = ?`,
    [id],
  )
  const rows = await selectRows<
    UserRow & { readonly content: string; readonly created_at: number }
  >(
    db,
    `select x.content, x.created_at, ${USER_COLUMNS} from ${USER_TABLES}
      join ${table} x on x.user_id = u.owner_id where x.${column} = ? order by x.id
      limit ? offset ?`,
    [id, page.limit, offsetOf(page)],
  )
  const entries = rows.map((row) => ({
    user: userOf(row),
    content: row.content,
    createdAtMs: row.created_at,
  }))
  return { entries, total: count?.total ?? 0 }
}

/** Returns the reaction of one user with one content. */
export async function findReaction(
  db: Database,
  subject: ReactionSubject,
  { user, content }: { readonly user: User; readonly content: string },
): Promise<Reaction | undefined> {
  const { table, column, id } = placeOf(subject)
  const [row] = await selectRows<{ created_at: number }>(
    db,
    `select created_at from ${table} where ${column} = ? and user_id = ? and content = ?`,
    [id, user.id, content],
  )
  return row === undefined ? undefined : { user, content, createdAtMs: row.created_at }
}

function placeOf(subject: ReactionSubject) {
  return 'issueId' in subject
    ? ({ table: 'issue_reactions', column: 'issue_id', id: subject.issueId } as const)
    : ({ table: 'comment_reactions', column: 'comment_id', id: subject.commentId } as const)
}
