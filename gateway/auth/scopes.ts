/** Token scopes: their names, implications and stored form. */

import { Failure } from '../../conf/failures.js'

const CATEGORIES = [
  'activitypub',
  'admin',
  'misc',
  'notification',
  'organization',
  'package',
  'issue',
  'repository',
  'user',
] as const

export type ScopeCategory = (typeof CATEGORIES)[number]
export type Scope = `read:${ScopeCategory}` | `write:${ScopeCategory}`

const PUBLIC_ONLY = 'public-only'
const ALL = 'all'

/**
 * Returns the scopes of a new token in their stored form: in a fixed order, without duplicates and
 * without a `read:` that a `write:` implies, and with `all` in place of all nine `write:` scopes.
 * `package` means `write:package`. Throws `bad_request` for an unknown name and for an empty list.
 */
export function normaliseScopes(given: readonly string[]): readonly string[] {
  const names = given.map((name) => (name === 'package' ? 'write:package' : name))
  const isKnown = (name: string) =>
    name === ALL ||
    name === PUBLIC_ONLY ||
    CATEGORIES.some(
      (word) => /^(?:read|write):/.test(name) && name.slice(name.indexOf(':') + 1) === word,
    )
  const unknown = names.find((name) => !isKnown(name))
  if (unknown !== undefined) {
    throw new Failure('bad_request', `invalid access token scope provided: ${unknown}`)
  }
  const wanted = new Set(names)
  const isWrite = (word: ScopeCategory) => wanted.has(ALL) || wanted.has(`write:${word}`)
  const kept: string[] = wanted.has(PUBLIC_ONLY) ? [PUBLIC_ONLY] : []
  if (CATEGORIES.every(isWrite)) return [...kept, ALL]
  for (const word of CATEGORIES) {
    if (isWrite(word)) kept.push(`write:${word}`)
    else if (wanted.has(`read:${word}`)) kept.push(`read:${word}`)
  }
  if (kept.every((name) => name === PUBLIC_ONLY)) {
    throw new Failure('bad_request', 'access token must have a scope')
  }
  return kept
}

/** True if the normalised scopes of a token include or imply `scope`. */
export function scopeAllows(held: readonly string[], scope: Scope): boolean {
  if (held.includes(ALL) || held.includes(scope)) return true
  return scope.startsWith('read:') && held.includes(`write:${scope.slice('read:'.length)}`)
}

/** True if the token is limited to public data. */
export function isPublicOnly(held: readonly string[]): boolean {
  return held.includes(PUBLIC_ONLY)
}
