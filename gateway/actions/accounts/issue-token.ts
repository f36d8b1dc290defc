/** A new access token, which is told once. */

import type { TokenLimits } from '../../../sql/accounts/token-limits.js'
import { createToken, type Token } from '../../../sql/accounts/tokens.js'
import type { Database } from '../../../sql/database/database.js'
import { normaliseScopes } from '../../auth/scopes.js'
import { hashToken, newToken } from '../../auth/token.js'

export interface TokenInput {
  readonly userId: number
  readonly name: string
  /** As given; see `normaliseScopes`. */
  readonly scopes: readonly string[]
  readonly limits?: TokenLimits | undefined
}

export interface IssuedToken {
  readonly token: Token
  /** What its owner is shown once. */
  readonly plain: string
}

/** Throws `bad_request` for unknown scopes or none, `conflict` where the name is taken. */
export async function issueToken(db: Database, input: TokenInput): Promise<IssuedToken> {
  const scopes = normaliseScopes(input.scopes)
  const plain = newToken()
  const { userId, name, limits } = input
  const kept = { userId, name, scopes, hash: hashToken(plain), lastEight: plain.slice(-8), limits }
  return { token: await createToken(db, kept), plain }
}
