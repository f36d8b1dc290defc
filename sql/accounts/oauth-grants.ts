/** Grants: the access that users have given to applications. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import {
  APPLICATION_COLUMNS,
  applicationOf,
  type OauthApplication,
  type ShownApplicationRow,
} from './oauth-applications.js'
import { USER_COLUMNS, USER_TABLES, type User, type UserRow, userOf } from './users.js'

export interface GrantTerms {
  readonly userId: number
  readonly applicationId: number
  /** Scopes of its tokens in the API. */
  readonly scopes: readonly string[]
  /** `openid` and the scopes that belong to it. */
  readonly openidScopes: readonly string[]
}

/** Authorization code of a grant, and the values that its redemption must repeat. */
export interface GrantCode {
  readonly hash: string
  readonly expiresAtMs: number
  /** Redirect URI of the authorization request; empty if the request had none. */
  readonly redirectUri: string
  /** S256 code challenge (RFC 7636); empty if the request had none. */
  readonly challenge: string
}

export interface OauthGrant extends GrantTerms {
  readonly id: number
  readonly nonce: string
  readonly createdAtMs: number
  readonly lastUsedAtMs: number
  readonly user: User
  readonly application: OauthApplication
}

/** Inserts a grant with its authorization code. */
export async function createGrant(
  db: Database,
  { code, nonce, ...terms }: GrantTerms & { readonly code: GrantCode; readonly nonce: string },
): Promise<void> {
  const nowMs = Date.now()
  await db('oauth_grants').insert({
    ...columnsOf(terms),
    nonce,
    code_hash: code.hash,
    code_expires_at: code.expiresAtMs,
    is_code_used: false,
    redirect_uri: code.redirectUri,
    code_challenge: code.challenge,
    created_at: nowMs,
    last_used_at: nowMs,
  })
}

/** Returns true if the user has a grant for exactly this application and these scopes. */
export async function hasGrant(db: Database, terms: GrantTerms): Promise<boolean> {
  return (await db('oauth_grants').where(columnsOf(terms)).first('id')) !== undefined
}

/** Sets the time when a grant was last used. */
export async function touchGrant(db: Database, id: number, nowMs: number): Promise<void> {
  await db('oauth_grants').where({ id }).update({ last_used_at: nowMs })
}

/** Access that a user has given to an application with one set of scopes, in one or more grants. */
export interface Permission {
  readonly application: OauthApplication
  readonly scopes: readonly string[]
  readonly sinceMs: number
  readonly lastUsedAtMs: number
}

/** Returns a user's grants, merged by application and scopes, ordered by application name. */
export async function listPermissions(
  db: Database,
  userId: number,
): Promise<readonly Permission[]> {
  const rows = await selectRows<PermissionRow>(
    db,
    `select ${APPLICATION_COLUMNS}, g.scopes, g.since, g.last_used_at
      from (select application_id, scopes, min(created_at) as since,
        max(last_used_at) as last_used_at from oauth_grants where user_id = ?
        group by application_id, scopes) g
      join oauth_applications a on a.id = g.application_id order by a.name, a.id, g.scopes`,
    [userId],
  )
  return rows.map((row) => ({
    application: applicationOf(row),
    scopes: listOf(row.scopes),
    sinceMs: row.since,
    lastUsedAtMs: row.last_used_at,
  }))
}

interface PermissionRow extends ShownApplicationRow {
  readonly scopes: string
  readonly since: number
  readonly last_used_at: number
}

/** Deletes all grants of a user to an application. Returns false if there was none. */
export async function endGrants(
  db: Database,
  { userId, applicationId }: Pick<GrantTerms, 'userId' | 'applicationId'>,
): Promise<boolean> {
  const granted = db('oauth_grants').where({ user_id: userId, application_id: applicationId })
  return (await granted.delete()) > 0
}

/** Deletes a grant with all its tokens. */
export async function endGrant(db: Database, id: number): Promise<void> {
  await db('oauth_grants').where({ id }).delete()
}

/**
 * Deletes tokens whose refresh token has expired, and then grants whose code has expired and that
 * have no tokens. Returns the number of deleted grants.
 */
export async function removeExpiredGrants(db: Database, beforeMs: number): Promise<number> {
  await db('oauth_tokens').where('refresh_expires_at', '<', beforeMs).delete()
  return await db('oauth_grants')
    .where('code_expires_at', '<', beforeMs)
    .whereRaw('not exists (select 1 from oauth_tokens t where t.grant_id = oauth_grants.id)')
    .delete()
}

const SCOPE_SEPARATOR = ','

function columnsOf({ userId, applicationId, scopes, openidScopes }: GrantTerms) {
  return {
    user_id: userId,
    application_id: applicationId,
    scopes: scopes.join(SCOPE_SEPARATOR),
    openid_scopes: openidScopes.join(SCOPE_SEPARATOR),
  }
}

/** Columns of a grant, selected from GRANT_TABLES. */
export const GRANT_COLUMNS = `g.id as grant_id, g.scopes as grant_scopes,
  g.openid_scopes as grant_openid_scopes, g.nonce as grant_nonce,
  g.created_at as grant_created_at, g.last_used_at as grant_last_used_at,
  ${APPLICATION_COLUMNS}, ${USER_COLUMNS}`

/** Tables of a grant; `oauth_grants` has the alias `g`. */
export const GRANT_TABLES = `${USER_TABLES} join oauth_grants g on g.user_id = u.owner_id
  join oauth_applications a on a.id = g.application_id`

export interface GrantRow extends ShownApplicationRow, UserRow {
  readonly grant_id: number
  readonly grant_scopes: string
  readonly grant_openid_scopes: string
  readonly grant_nonce: string
  readonly grant_created_at: number
  readonly grant_last_used_at: number
}

/** Converts a row of GRANT_COLUMNS. */
export function grantOf(row: GrantRow): OauthGrant {
  const [user, application] = [userOf(row), applicationOf(row)]
  return {
    id: row.grant_id,
    userId: user.id,
    applicationId: application.id,
    scopes: listOf(row.grant_scopes),
    openidScopes: listOf(row.grant_openid_scopes),
    nonce: row.grant_nonce,
    createdAtMs: row.grant_created_at,
    lastUsedAtMs: row.grant_last_used_at,
    user,
    application,
  }
}

function listOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(SCOPE_SEPARATOR)
}
