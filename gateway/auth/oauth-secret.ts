/** What applications are given in place of a password: each kind has a form of its own. */

import { newToken } from './token.js'

const PREFIXES = { code: 'goc_', access: 'goa_', refresh: 'gor_', client: 'gto_' } as const

/** 160 random bits with the prefix of their kind; no personal token and no password looks so. */
export function newOauthSecret(kind: keyof typeof PREFIXES): string {
  return PREFIXES[kind] + newToken()
}

/** Whether the text can be an access token of an application. */
export function isAccessShaped(text: string): boolean {
  return /^goa_[0-9a-f]{40}$/.test(text)
}
