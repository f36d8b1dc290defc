/** Credentials of applications: single-use codes, access tokens and single-use refresh tokens. */

import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import {
  endGrant,
  GRANT_COLUMNS,
  GRANT_TABLES,
  type GrantCode,
  type GrantRow,
  grantOf,
  type OauthGrant,
} from './oauth-grants.js'

export interface FoundCode extends GrantCode {
  readonly grant: OauthGrant
  readonly isUsed: boolean
}

/** Returns the code with that hash, used or not. */
export async function findCode(db: Database, hash: string): Promise<FoundCode | undefined> {
  const [row] = await selectRows<GrantRow & CodeRow>(
    db,
    `select ${GRANT_COLUMNS}, g.code_expires_at, g.is_code_used, g.redirect_uri, g.code_challenge
      from ${GRANT_TABLES} where g.code_hash = ?`,
    [checkText(hash)],
  )
  return (
    row && {
      grant: grantOf(row),
      hash,
      expiresAtMs: row.code_expires_at,
      isUsed: row.is_code_used === 1,
      redirectUri: row.redirect_uri,
      challenge: row.code_challenge,
    }
  )
}

interface CodeRow {
  readonly code_expires_at: number
  readonly is_code_used: number
  readonly redirect_uri: string
  readonly code_challenge: string
}

/** Access token and refresh token that are issued together. */
export interface TokenPair {
  readonly accessHash: string
  readonly accessExpiresAtMs: number
  readonly refreshHash: string
  readonly refreshExpiresAtMs: number
}

/**
 * Redeems a grant's code for its first tokens. Returns false if the code was used before or
 * concurrently. That indicates a stolen code, so the grant is deleted with all its tokens.
 */
export async function spendCode(db: Database, grantId: number, next: TokenPair): Promise<boolean> {
  return await transaction(db, async (trx) => {
    const unused = trx('oauth_grants').where({ id: grantId, is_code_used: false })
    const spent = await unused.update({ is_code_used: true })
    return await insertNextTokens(trx, { grantId, spent, next })
  })
}

export interface FoundRefresh {
  readonly grant: OauthGrant
  readonly tokenId: number
  readonly expiresAtMs: number
}

/** Returns the refresh token with that hash, spent or not. */
export async function findRefresh(db: Database, hash: string): Promise<FoundRefresh | undefined> {
  const [row] = await selectRows<GrantRow & { token_id: number; refresh_expires_at: number }>(
    db,
    `select ${GRANT_COLUMNS}, t.id as token_id, t.refresh_expires_at
      from ${GRANT_TABLES} join oauth_tokens t on t.grant_id = g.id where t.refresh_hash = ?`,
    [checkText(hash)],
  )
  return row && { grant: grantOf(row), tokenId: row.token_id, expiresAtMs: row.refresh_expires_at }
}

/**
 * Exchanges a refresh token for the next tokens. Returns false, and deletes the grant with all its
 * tokens, if the refresh token was spent before or concurrently.
 */
export async function spendRefresh(
  db: Database,
  { grant, tokenId }: FoundRefresh,
  next: TokenPair,
): Promise<boolean> {
  return await transaction(db, async (trx) => {
    const unspent = trx('oauth_tokens').where({ id: tokenId, is_spent: false })
    const spent = await unspent.update({ is_spent: true })
    return await insertNextTokens(trx, { grantId: grant.id, spent, next })
  })
}

async function insertNextTokens(
  trx: Database,
  { grantId, spent, next }: { grantId: number; spent: number; next: TokenPair },
): Promise<boolean> {
  if (spent === 0) {
    await endGrant(trx, grantId)
    return false
  }
  await trx('oauth_tokens').insert({
    grant_id: grantId,
    access_hash: next.accessHash,
    access_expires_at: next.accessExpiresAtMs,
    refresh_hash: next.refreshHash,
    refresh_expires_at: next.refreshExpiresAtMs,
    is_spent: false,
    created_at: Date.now(),
  })
  return true
}

export interface AccessToken {
  readonly grant: OauthGrant
  readonly createdAtMs: number
  readonly expiresAtMs: number
}

/** Returns the access token with that hash unless it has expired. */
export async function findAccess(db: Database, hash: string): Promise<AccessToken | undefined> {
  const [row] = await selectRows<
    GrantRow & { access_created_at: number; access_expires_at: number }
  >(
    db,
    `select ${GRANT_COLUMNS}, t.created_at as access_created_at, t.access_expires_at
      from ${GRANT_TABLES} join oauth_tokens t on t.grant_id = g.id
      where t.access_hash = ? and t.access_expires_at > ?`,
    [checkText(hash), Date.now()],
  )
  return (
    row && {
      grant: grantOf(row),
      createdAtMs: row.access_created_at,
      expiresAtMs: row.access_expires_at,
    }
  )
}
