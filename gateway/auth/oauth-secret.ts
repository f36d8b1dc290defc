/** Secrets of OAuth: codes, tokens and client secrets, each kind with its own prefix. */

import { newToken } from './token.js'

const PREFIXES = { code: 'goc_', access: 'goa_', refresh: 'gor_', client: 'gto_' } as const

/** Returns 160 random bits with the prefix of their kind; no personal token has this form. */
export function newOauthSecret(kind: keyof typeof PREFIXES): string {
  return PREFIXES[kind] + newToken()
}

/** True if the text has the form of an application's access token. */
export function isAccessShaped(text: string): boolean {
  return /^goa_[0-9a-f]{40}$/.test(text)
}
