/** Issue of a request, and the permissions of its author and of users with write access. */

import { Failure, notFound } from '../../../conf/failures.js'
import { parseTitle } from '../../../conf/names.js'
import { findIssue, type Issue } from '../../../sql/issues/issues.js'
import { atLeast } from '../../../sql/repositories/access.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'

type Grant = Grants['repository']

/**
 * Returns the issue or pull request `{index}`. Throws `not_found` also if the repository has issues
 * or pull requests disabled.
 */
export async function issueOf(
  context: Context,
  { repository }: Grant,
  params: Readonly<Record<string, string>>,
): Promise<Issue> {
  const number = numberOf(params, 'index')
  const issue = await findIssue(context.db, repository.id, number)
  if (issue === undefined || !isServed(repository, issue)) throw notFound()
  return issue
}

/** True if issues, or pull requests, are enabled in the repository. */
export function isServed(
  { preferences }: Repository,
  { isPull }: { readonly isPull: boolean },
): boolean {
  return preferences[isPull ? 'has_pull_requests' : 'has_issues'] !== false
}

/**
 * Returns the value of `isPull` in a list of the `wanted` kind, by default both; undefined if both
 * are listed. Throws `not_found` if no wanted kind is enabled and visible to the caller.
 */
export function servedKind(
  { repository, modes }: Pick<Grant, 'repository' | 'modes'>,
  wanted: string | undefined,
): boolean | undefined {
  const kinds = [false, true].filter(
    (isPull) => isServed(repository, { isPull }) && modes[unitOfKind(isPull)] !== 'none',
  )
  const chosen = kinds.filter((isPull) => {
    if (wanted === 'issues') return !isPull
    return wanted === 'pulls' ? isPull : true
  })
  if (chosen.length === 0) throw notFound()
  return chosen.length === 1 ? chosen[0] : undefined
}

/** Returns the unit of an issue or of a pull request. */
export function unitOfKind(isPull: boolean): 'issues' | 'pulls' {
  return isPull ? 'pulls' : 'issues'
}

/** Reads a number of the path; 0, which no row has, if it is malformed. */
export function numberOf(params: Readonly<Record<string, string>>, name: string): number {
  const text = params[name] ?? ''
  return /^\d{1,15}$/.test(text) ? Number(text) : 0
}

/** True if the caller can write to the unit of the route, for example to issues. */
export function mayWrite({ mode }: Grant): boolean {
  return atLeast(mode, 'write')
}

interface Written {
  readonly authorId?: number | undefined
}

/** True if the caller is the author, or can write to the repository. */
export function mayChange(grant: Grant, { authorId }: Written): boolean {
  return mayWrite(grant) || (authorId !== undefined && authorId === grant.user?.id)
}

/** Throws `forbidden` unless the caller is the author, or can write to the repository. */
export function refuseOthers(grant: Grant, written: Written): void {
  if (mayChange(grant, written)) return
  throw new Failure(
    'forbidden',
    'user should be its author or have a permission to write to a repo',
  )
}

/** True if the caller can comment: on a locked issue only users with write access can. */
export function mayComment(grant: Grant, { isLocked }: Pick<Issue, 'isLocked'>): boolean {
  return !isLocked || mayWrite(grant)
}

/** Throws `forbidden` if the issue is locked and the caller cannot write to the repository. */
export function refuseLocked(grant: Grant, issue: Pick<Issue, 'isLocked'>): void {
  if (mayComment(grant, issue)) return
  throw new Failure(
    'forbidden',
    'The conversation is locked: only users with write access can comment.',
  )
}

const TITLE_CHARACTERS_MAX = 255

/** Parses the title of an issue, a label or a milestone. Throws `invalid`. */
export function titleOf(text: string): string {
  const title = parseTitle(text.trim())
  if ([...title].length > TITLE_CHARACTERS_MAX) {
    throw new Failure('invalid', `[Title]: must have at most ${TITLE_CHARACTERS_MAX} characters`)
  }
  return title
}
