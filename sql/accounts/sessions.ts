/** Web sessions, stored by their hash. */

import { checkText } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { USER_COLUMNS, USER_TABLES, type User, type UserRow, userOf } from './users.js'

export interface Session {
  readonly id: number
  readonly userId: number
  /** Address and User-Agent of the sign-in. */
  readonly address: string
  readonly agent: string
  readonly createdAtMs: number
  readonly lastUsedAtMs: number
  readonly expiresAtMs: number
}

export interface NewSession extends Omit<Session, 'id' | 'createdAtMs' | 'lastUsedAtMs'> {
  /** SHA-256 of the token that the browser keeps, in lower-case hexadecimal. */
  readonly hash: string
}

/** Inserts a session. */
export async function createSession(db: Database, session: NewSession): Promise<void> {
  const nowMs = Date.now()
  await db('sessions').insert({
    user_id: session.userId,
    hash: session.hash,
    address: session.address,
    agent: session.agent,
    created_at: nowMs,
    last_used_at: nowMs,
    expires_at: session.expiresAtMs,
  })
}

/** Returns the session with that hash and its user unless the session has expired. */
export async function findSessionWithUser(
  db: Database,
  hash: string,
): Promise<{ readonly session: Session; readonly user: User } | undefined> {
  const [row] = await selectRows<SessionRow & UserRow>(db, SELECT_WITH_USER, [
    checkText(hash),
    Date.now(),
  ])
  return row && { session: sessionOf(row), user: userOf(row) }
}

/** Sets the time when a session was last used. */
export async function touchSession(db: Database, id: number, nowMs: number): Promise<void> {
  await db('sessions').where({ id }).update({ last_used_at: nowMs })
}

/** Deletes a user's session. Returns false if the user has no session with that id. */
export async function deleteSession(db: Database, userId: number, id: number): Promise<boolean> {
  return (await db('sessions').where({ id, user_id: userId }).delete()) > 0
}

/** Deletes all sessions of a user except one. Returns the number of deleted sessions. */
export async function deleteOtherSessions(
  db: Database,
  userId: number,
  keptId: number,
): Promise<number> {
  return await db('sessions').where({ user_id: userId }).whereNot({ id: keptId }).delete()
}

/** Returns the unexpired sessions of a user, most recently used first. */
export async function listSessions(
  db: Database,
  userId: number,
  page: Page,
): Promise<Paged<Session>> {
  const bindings = [userId, Date.now()]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from sessions s ${WHERE_OF_USER}`,
    bindings,
  )
  const rows = await selectRows<SessionRow>(
    db,
    `select ${SESSION_COLUMNS} from sessions s ${WHERE_OF_USER}
      order by s.last_used_at desc, s.id desc limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(sessionOf), total: count?.total ?? 0 }
}

const WHERE_OF_USER = 'where s.user_id = ? and s.expires_at > ?'

/** Deletes sessions that expired before that time. Returns their number. */
export async function removeExpiredSessions(db: Database, beforeMs: number): Promise<number> {
  return await db('sessions').where('expires_at', '<', beforeMs).delete()
}

const SESSION_COLUMNS = `s.id as session_id, s.user_id as session_user_id,
  s.address as session_address, s.agent as session_agent, s.created_at as session_created_at,
  s.last_used_at as session_last_used_at, s.expires_at as session_expires_at`

const SELECT_WITH_USER = `select ${SESSION_COLUMNS}, ${USER_COLUMNS}
  from ${USER_TABLES} join sessions s on s.user_id = u.owner_id
  where s.hash = ? and s.expires_at > ?`

interface SessionRow {
  readonly session_id: number
  readonly session_user_id: number
  readonly session_address: string
  readonly session_agent: string
  readonly session_created_at: number
  readonly session_last_used_at: number
  readonly session_expires_at: number
}

function sessionOf(row: SessionRow): Session {
  return {
    id: row.session_id,
    userId: row.session_user_id,
    address: row.session_address,
    agent: row.session_agent,
    createdAtMs: row.session_created_at,
    lastUsedAtMs: row.session_last_used_at,
    expiresAtMs: row.session_expires_at,
  }
}
