/** Access tokens, stored by their hash. */

import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import {
  insertRestriction,
  LIMIT_COLUMNS,
  type LimitRow,
  limitColumns,
  limitsOf,
  type TokenLimits,
} from './token-limits.js'
import { USER_COLUMNS, USER_TABLES, type User, type UserRow, userOf } from './users.js'

export interface Token {
  readonly id: number
  readonly userId: number
  readonly name: string
  readonly lastEight: string
  readonly scopes: readonly string[]
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | undefined
  /** Undefined if only the scopes limit the token. */
  readonly limits: TokenLimits | undefined
}

export interface NewToken {
  readonly userId: number
  readonly name: string
  /** SHA-256 of the token, in lower-case hexadecimal. */
  readonly hash: string
  readonly lastEight: string
  readonly scopes: readonly string[]
  readonly limits?: TokenLimits | undefined
}

/** Inserts a token. Throws `conflict` if the user has a token with that name. */
export async function createToken(db: Database, token: NewToken): Promise<Token> {
  const createdAtMs = Date.now()
  const { userId, name, lastEight, scopes, limits } = token
  const id = await transaction(db, async (trx) => {
    const [inserted] = await orConflict('access token name has been used already', () =>
      trx('tokens').insert({
        user_id: userId,
        name,
        hash: token.hash,
        last_eight: lastEight,
        scopes: scopes.join(SCOPE_SEPARATOR),
        created_at: createdAtMs,
        last_used_at: null,
        ...limitColumns(limits),
      }),
    )
    if (inserted === undefined) throw new Error('The insert returned no id.')
    if (limits?.reach !== undefined) await insertRestriction(trx, inserted, limits.reach)
    return inserted
  })
  return { id, userId, name, lastEight, scopes, createdAtMs, lastUsedAtMs: undefined, limits }
}

export interface TokenWithUser {
  readonly token: Token
  readonly user: User
}

/**
 * Returns the token with that hash and its user. Nearly every request calls this: it runs one
 * query, and two more only if the token is limited to repositories or packages.
 */
export function findTokenWithUser(
  db: Database,
  hash: string,
): Awaitable<TokenWithUser | undefined> {
  const rows = selectRows<TokenRow & UserRow>(db, SELECT_WITH_USER, [checkText(hash)])
  return after(rows, ([row]) => (row === undefined ? undefined : withUser(db, row)))
}

/** Results by row: a cached query returns the same frozen row object again. */
const converted = new WeakMap<TokenRow, TokenWithUser>()

function withUser(db: Database, row: TokenRow & UserRow): Awaitable<TokenWithUser> {
  const known = converted.get(row)
  if (known !== undefined) return known
  return after(limitsOf(db, [row]), (limits) => {
    const found = Object.freeze({ token: tokenOf(row, limits(row)), user: userOf(row) })
    // The repositories and packages of a restricted token are in other rows, which may change.
    if (Object.isFrozen(row) && row.token_is_bound === 0) converted.set(row, found)
    return found
  })
}

/** Returns the tokens of a user, oldest first. */
export async function listTokens(db: Database, userId: number, page: Page): Promise<Paged<Token>> {
  const [count] = await selectRows<{ total: number }>(
    db,
    'select count(*) as total from tokens where user_id = ?',
    [userId],
  )
  const rows = await selectRows<TokenRow>(
    db,
    `select ${TOKEN_COLUMNS} from tokens t where t.user_id = ? order by t.id limit ? offset ?`,
    [userId, page.limit, offsetOf(page)],
  )
  return { entries: await tokensOf(db, rows), total: count?.total ?? 0 }
}

/** Returns a user's token by its id or else by its name: the API accepts both in one parameter. */
export async function findToken(
  db: Database,
  userId: number,
  idOrName: string,
): Promise<Token | undefined> {
  const id = /^\d{1,15}$/.test(idOrName) ? Number(idOrName) : -1
  const rows = await selectRows<TokenRow>(
    db,
    `select ${TOKEN_COLUMNS} from tokens t where t.user_id = ? and (t.id = ? or t.name = ?)`,
    [userId, id, checkText(idOrName)],
  )
  const row = rows.find((candidate) => candidate.token_id === id) ?? rows[0]
  const [token] = row === undefined ? [] : await tokensOf(db, [row])
  return token
}

/** Deletes a user's token. Returns false if the user has no token with that id. */
export async function deleteToken(db: Database, userId: number, tokenId: number): Promise<boolean> {
  return (await db('tokens').where({ id: tokenId, user_id: userId }).delete()) > 0
}

/** Deletes tokens that expired before that time. Returns their number. */
export async function removeExpiredTokens(db: Database, beforeMs: number): Promise<number> {
  return await db('tokens').where('expires_at', '<', beforeMs).delete()
}

/** Sets the time when a token was last used. */
export async function touchToken(db: Database, tokenId: number, nowMs: number): Promise<void> {
  await db('tokens').where({ id: tokenId }).update({ last_used_at: nowMs })
}

const SCOPE_SEPARATOR = ','

const TOKEN_COLUMNS = `t.id as token_id, t.user_id as token_user_id, t.name as token_name,
  t.last_eight as token_last_eight, t.scopes as token_scopes, t.created_at as token_created_at,
  t.last_used_at as token_last_used_at, ${LIMIT_COLUMNS}`

const SELECT_WITH_USER = `select ${TOKEN_COLUMNS}, ${USER_COLUMNS}
  from ${USER_TABLES} join tokens t on t.user_id = u.owner_id where t.hash = ?`

interface TokenRow extends LimitRow {
  readonly token_user_id: number
  readonly token_name: string
  readonly token_last_eight: string
  readonly token_scopes: string
  readonly token_created_at: number
  readonly token_last_used_at: number | null
}

async function tokensOf(db: Database, rows: readonly TokenRow[]): Promise<readonly Token[]> {
  const limits = await limitsOf(db, rows)
  return rows.map((row) => tokenOf(row, limits(row)))
}

function tokenOf(row: TokenRow, limits: TokenLimits | undefined): Token {
  return {
    id: row.token_id,
    userId: row.token_user_id,
    name: row.token_name,
    lastEight: row.token_last_eight,
    scopes: row.token_scopes === '' ? [] : row.token_scopes.split(SCOPE_SEPARATOR),
    createdAtMs: row.token_created_at,
    lastUsedAtMs: row.token_last_used_at ?? undefined,
    limits,
  }
}
