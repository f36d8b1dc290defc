/** Query parameters and filters of issue lists. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { User } from '../../../sql/accounts/users.js'
import type { IssueFilter } from '../../../sql/issues/issue-lists.js'
import { findVisibleUser } from '../../auth/visible-owner.js'
import { readBounds } from '../../objects/times.js'
import type { Context } from '../../request/context.js'

const text = (description: string) => Type.Optional(Type.String({ description }))

export const ISSUE_QUERY = {
  state: text('whether issue is open, closed or all; open by default'),
  labels: text('comma separated list of label names; issues that have all of them'),
  q: text('search string'),
  type: text('filter by type (issues / pulls) if set'),
  milestones: text('comma separated list of milestone names or ids'),
  since: text('only show items updated after the given time (RFC 3339)'),
  before: text('only show items updated before the given time (RFC 3339)'),
}

export const USERS_QUERY = {
  created_by: text('only show items which were created by the given user'),
  assigned_by: text('only show items for which the given user is assigned'),
  mentioned_by: text('only show items in which the given user was mentioned'),
}

type Sent<T> = { readonly [K in keyof T]?: string }

/**
 * Returns the filter that the query describes. Throws `invalid` if a time cannot be parsed or the
 * search text is too long.
 */
export function filterOf(query: Sent<typeof ISSUE_QUERY>): IssueFilter {
  const { state = 'open' } = query
  return {
    ...readBounds(query),
    state: state === 'all' ? undefined : state === 'closed' ? 'closed' : 'open',
    labels: namesOf(query.labels),
    milestones: namesOf(query.milestones),
    text: searchTextOf(query.q),
  }
}

/**
 * Maximum length of a search text. SQLite searches for it in the texts of each issue, which blocks
 * the event loop.
 */
const SEARCH_CHARACTERS_MAX = 255

function searchTextOf(text = ''): string | undefined {
  const trimmed = text.trim()
  if (trimmed.length > SEARCH_CHARACTERS_MAX) {
    throw new Failure('invalid', `[Q]: longer than ${SEARCH_CHARACTERS_MAX} characters`)
  }
  return trimmed || undefined
}

function namesOf(list = ''): readonly string[] {
  const names = list.split(',').map((name) => name.trim())
  return names.filter((name) => name !== '')
}

/**
 * Returns the filter by author, assignee and mentioned user. Throws `not_found` if a user does not
 * exist or is hidden from `viewer`.
 */
export async function userFilterOf(
  { db }: Context,
  query: Sent<typeof USERS_QUERY>,
  viewer: User | undefined,
): Promise<IssueFilter> {
  const idOf = async (name: string | undefined) =>
    name ? (await findVisibleUser(db, name, viewer)).id : undefined
  return {
    authorId: await idOf(query.created_by),
    assigneeId: await idOf(query.assigned_by),
    mentionedId: await idOf(query.mentioned_by),
  }
}
