/** Which issue a request is about, and what its author and those who write may do with it. */

import { Failure, notFound } from '../../../conf/failures.js'
import { parseTitle } from '../../../conf/names.js'
import { findIssue, type Issue } from '../../../sql/issues/issues.js'
import { atLeast } from '../../../sql/repositories/access.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'

type Grant = Grants['repository']

/** The issue or the pull request `{index}`. Throws `not_found`, also where it is switched off. */
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

/** Whether the repository has issues, or pull requests, at all. */
export function isServed(
  { preferences }: Repository,
  { isPull }: { readonly isPull: boolean },
): boolean {
  return preferences[isPull ? 'has_pull_requests' : 'has_issues'] !== false
}

/** What is listed where issues or pull requests are switched off. Throws `not_found`. */
export function servedKind(
  repository: Repository,
  wanted: string | undefined,
): boolean | undefined {
  const kinds = [false, true].filter((isPull) => isServed(repository, { isPull }))
  const asked = kinds.filter((isPull) => {
    if (wanted === 'issues') return !isPull
    return wanted === 'pulls' ? isPull : true
  })
  if (asked.length === 0) throw notFound()
  return asked.length === 1 ? asked[0] : undefined
}

/** A number in a path; what cannot be one is the number of nothing. */
export function numberOf(params: Readonly<Record<string, string>>, name: string): number {
  const text = params[name] ?? ''
  return /^\d{1,15}$/.test(text) ? Number(text) : 0
}

/** Whether the caller may write to the repository. */
export function mayWrite({ mode }: Grant): boolean {
  return atLeast(mode, 'write')
}

interface Written {
  readonly authorId?: number | undefined
}

/** Whether the caller wrote it, or may write to the repository. */
export function mayChange(grant: Grant, { authorId }: Written): boolean {
  return mayWrite(grant) || (authorId !== undefined && authorId === grant.user?.id)
}

/** Throws `forbidden` unless the caller may change it. */
export function refuseOthers(grant: Grant, written: Written): void {
  if (mayChange(grant, written)) return
  throw new Failure(
    'forbidden',
    'user should be its author or have a permission to write to a repo',
  )
}

/** Whether the caller has a say: where it is locked, only those who write do. */
export function mayComment(grant: Grant, { isLocked }: Pick<Issue, 'isLocked'>): boolean {
  return !isLocked || mayWrite(grant)
}

/** Throws `forbidden` where only those who write may have a say any more. */
export function refuseLocked(grant: Grant, issue: Pick<Issue, 'isLocked'>): void {
  if (mayComment(grant, issue)) return
  throw new Failure('forbidden', 'The conversation is locked: only those who write may comment.')
}

const TITLE_CHARACTERS_MAX = 255

/** The title of an issue, a label or a milestone. Throws `invalid`. */
export function titleOf(text: string): string {
  const title = parseTitle(text.trim())
  if ([...title].length > TITLE_CHARACTERS_MAX) {
    throw new Failure('invalid', `[Title]: it has at most ${TITLE_CHARACTERS_MAX} characters`)
  }
  return title
}
