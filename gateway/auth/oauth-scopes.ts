/** OAuth scopes: parsed into token scopes, and described for the user who grants them. */

import { Failure } from '../../conf/failures.js'
import { OauthFailure } from './oauth-failure.js'
import { normaliseScopes } from './scopes.js'

/** Scopes for signing in (OpenID Connect Core §5.4, and `groups`), in their stored order. */
export const OPENID_SCOPES = ['openid', 'profile', 'email', 'groups'] as const

const AREAS: Readonly<Record<string, string>> = {
  activitypub: 'ActivityPub',
  admin: 'the whole site, if you administer it',
  misc: 'everything that belongs to no other area',
  notification: 'your notifications',
  organization: 'your organizations and teams',
  package: 'packages',
  issue: 'issues, labels and milestones',
  repository: 'repositories and pull requests, including private ones',
  user: 'your account, with its keys and settings',
}

export interface RequestedScopes {
  /** Token scopes in the form of `normaliseScopes`. */
  readonly scopes: readonly string[]
  readonly openidScopes: readonly string[]
}

/**
 * Reads the parameter `scope`. An empty one means all scopes, as clients of Gitea expect, and one
 * with only OpenID scopes means `read:user`. An area without `read:` or `write:` means `write:`,
 * which implies `read:`. Throws `invalid_scope`.
 */
export function readOauthScopes(text: string): RequestedScopes {
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  const openidScopes = OPENID_SCOPES.filter((word) => words.includes(word))
  const others = words.filter((word) => !OPENID_SCOPES.some((known) => known === word))
  if (others.length === 0) {
    return { scopes: openidScopes.length > 0 ? ['read:user'] : ['all'], openidScopes }
  }
  try {
    const scopes = others.map((word) => (Object.hasOwn(AREAS, word) ? `write:${word}` : word))
    return { scopes: normaliseScopes(scopes), openidScopes }
  } catch (error) {
    throw error instanceof Failure ? new OauthFailure('invalid_scope', error.message) : error
  }
}

/** Returns a description of a token scope for the user who grants it. */
export function sentenceOfScope(scope: string): string {
  if (scope === 'all') return 'Everything that you may do here'
  if (scope === 'public-only') return 'Only public data'
  const [verb = '', area = ''] = scope.split(':')
  return `${verb === 'write' ? 'Read and change' : 'Read'} ${AREAS[area] ?? area}`
}
