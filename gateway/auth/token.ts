/** Access tokens: shown once, stored only as a hash. */

import { hash, randomBytes } from 'node:crypto'
import { parseAddressSet } from '../../conf/addresses.js'
import type { TokenLimits } from '../../sql/accounts/token-limits.js'

const TOKEN_SHAPE = /^[0-9a-f]{40}$/

/** Returns 160 random bits in the form of Gitea's tokens: 40 hexadecimal digits. */
export function newToken(): string {
  return randomBytes(20).toString('hex')
}

const JOB_TOKEN_PREFIX = 'job_'

/** Returns a token for one job of a workflow, which looks different from all other tokens. */
export function newJobToken(): string {
  return JOB_TOKEN_PREFIX + newToken()
}

/** True if the text has the form of a job token. */
export function isJobTokenShaped(text: string): boolean {
  return text.startsWith(JOB_TOKEN_PREFIX) && isTokenShaped(text.slice(JOB_TOKEN_PREFIX.length))
}

/**
 * Replaces tokens of jobs by `***`, also those that are cut, and texts in base64 that contain one.
 * The tokens are stored as hashes, so they are found by their form.
 */
export function maskJobTokens(text: string): string {
  return text
    .replaceAll(BASE64_TEXT, (encoded) => (hidesJobToken(encoded) ? '***' : encoded))
    .replaceAll(JOB_TOKENS, '***')
}

const JOB_TOKENS = /job_[0-9a-f]{20,40}/g
const BASE64_TEXT = /[A-Za-z0-9+/]{32,}/g

/** True if a text is base64 that contains a token of a job; its first characters may be others. */
function hidesJobToken(encoded: string): boolean {
  return [0, 1, 2, 3].some((start) => {
    const decoded = Buffer.from(encoded.slice(start), 'base64').toString('latin1')
    return decoded.search(JOB_TOKENS) !== -1
  })
}

/** True if the text has the form of a token. */
export function isTokenShaped(text: string): boolean {
  return TOKEN_SHAPE.test(text)
}

/**
 * Returns the SHA-256 of a token in hexadecimal, under which the token is stored. A slow hash would
 * add nothing, because 160 random bits cannot be guessed.
 */
export function hashToken(token: string): string {
  return hash('sha256', token)
}

/** True if a token with these limits is valid at that time and from that address. */
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
