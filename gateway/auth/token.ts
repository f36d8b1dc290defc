/** Access tokens: made once, shown once, kept as a hash only. */

import { hash, randomBytes } from 'node:crypto'
import { parseAddressSet } from '../../conf/addresses.js'
import type { TokenLimits } from '../../sql/accounts/token-limits.js'

const TOKEN_SHAPE = /^[0-9a-f]{40}$/

/** 160 random bits in the form that Gitea's clients know: 40 hexadecimal digits. */
export function newToken(): string {
  return randomBytes(20).toString('hex')
}

/** Whether the text can be a token at all. */
export function isTokenShaped(text: string): boolean {
  return TOKEN_SHAPE.test(text)
}

/**
 * SHA-256 in hexadecimal: the form in which a token is kept and looked up. A slow hash would add
 * nothing, as 160 random bits cannot be guessed.
 */
export function hashToken(token: string): string {
  return hash('sha256', token)
}

/** Whether a token of these limits counts at that time, for a request that comes from there. */
export function isValidNow(
  limits: TokenLimits | undefined,
  origin: { readonly address: string },
  nowMs: number,
): boolean {
  if (limits === undefined) return true
  const { expiresAtMs, addresses } = limits
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return false
  return addresses.length === 0 || parseAddressSet(addresses).has(origin.address)
}
