/** Search over the API for issues of all repositories that the caller can read. */

import { Type } from 'typebox'
import { searchIssues } from '../../../sql/issues/issue-lists.js'
import { viewerOf } from '../../auth/refusals.js'
import { foundIssueObjects, ISSUE } from '../../objects/issues/issue-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { filterOf, ISSUE_QUERY } from './issue-filter.js'

const own = (what: string) =>
  Type.Optional(Type.Boolean({ description: `filter by issues ${what} the authenticated user` }))

const search = defineOperation({
  id: 'issueSearchIssues',
  method: 'GET',
  path: '/repos/issues/search',
  summary: 'Search for issues across the repositories that the user has access to',
  tags: ['issue'],
  access: { kind: 'anyone', isForBoundTokens: true },
  scopes: ['read:issue'],
  params: {},
  query: Type.Object({
    ...ISSUE_QUERY,
    assigned: own('assigned to'),
    created: own('created by'),
    mentioned: own('mentioning'),
    owner: Type.Optional(Type.String({ description: 'filter by repository owner' })),
    ...PAGE_QUERY,
  }),
  success: { status: 200, schema: Type.Array(ISSUE) },
  failures: [422],
  async handle(context, { grant: { who }, query }) {
    const page = pageOf(query)
    const user = who.kind === 'user' ? who.user : undefined
    const callerIdIf = (isAsked: boolean | undefined) => (isAsked === true ? user?.id : undefined)
    const { assigned, created, mentioned, page: _page, limit: _limit, ...given } = query
    const { entries, total } = await searchIssues(context.db, {
      ...filterOf(query),
      isPull: query.type === 'pulls' ? true : query.type === 'issues' ? false : undefined,
      assigneeId: callerIdIf(assigned),
      authorId: callerIdIf(created),
      mentionedId: callerIdIf(mentioned),
      viewer: viewerOf(who),
      ownerName: query.owner || undefined,
      page,
    })
    const flags = Object.fromEntries(
      Object.entries({ assigned, created, mentioned }).map(([name, isAsked]) => [
        name,
        isAsked === true ? 'true' : undefined,
      ]),
    )
    const objects = await foundIssueObjects(context, entries, user)
    const path = '/repos/issues/search'
    return pageReply(context, objects, { path, query: { ...given, ...flags }, page, total })
  },
})

export const ISSUE_SEARCH_OPERATIONS: readonly AnyOperation[] = [search]
