/** Creation of access tokens. */

import type { TokenLimits } from '../../../sql/accounts/token-limits.js'
import { createToken, type Token } from '../../../sql/accounts/tokens.js'
import type { Database } from '../../../sql/database/database.js'
import { normaliseScopes } from '../../auth/scopes.js'
import { hashToken, newToken } from '../../auth/token.js'

export interface TokenInput {
  readonly userId: number
  readonly name: string
  /** Scopes in any form that `normaliseScopes` accepts. */
  readonly scopes: readonly string[]
  readonly limits?: TokenLimits | undefined
}

export interface IssuedToken {
  readonly token: Token
  /** Plain text of the token, which is shown to its owner once and not stored. */
  readonly plain: string
}

/** Creates a token. Throws `bad_request` for unknown or no scopes, `conflict` for a taken name. */
export async function issueToken(db: Database, input: TokenInput): Promise<IssuedToken> {
  const scopes = normaliseScopes(input.scopes)
  const plain = newToken()
  const { userId, name, limits } = input
  const kept = { userId, name, scopes, hash: hashToken(plain), lastEight: plain.slice(-8), limits }
  return { token: await createToken(db, kept), plain }
}
