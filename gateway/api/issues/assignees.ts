/** Users who can be assigned to issues, or requested to review, over the API. */

import { Type } from 'typebox'
import { listAssignable, listReviewers } from '../../../sql/issues/issue-people.js'
import type { Grants } from '../../auth/authorize.js'
import { isVisible } from '../../auth/visible-owner.js'
import { ownerObject, USER_OBJECT } from '../../objects/accounts/user-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { REPOSITORY_PARAMS } from './issue-params.js'

const list = defineOperation({
  id: 'repoGetAssignees',
  method: 'GET',
  path: '/repos/{owner}/{repo}/assignees',
  summary: 'Return all users that have write access and can be assigned to issues',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'issues' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(USER_OBJECT) },
  failures: [404],
  handle: (context, { grant }) => answer(context, grant, listAssignable),
})

const reviewers = defineOperation({
  id: 'repoGetReviewers',
  method: 'GET',
  path: '/repos/{owner}/{repo}/reviewers',
  summary: 'Return all users that can be requested to review in this repo',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'pull-requests' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(USER_OBJECT) },
  failures: [404],
  handle: (context, { grant }) => answer(context, grant, listReviewers),
})

/** Replies with the users that the caller may see. */
async function answer(
  context: Context,
  { repository, user }: Grants['repository'],
  list: typeof listAssignable,
) {
  const people = await list(context.db, repository)
  const seen = people.filter((person) => isVisible(person, user))
  return jsonReply(
    200,
    seen.map((person) => ownerObject(context, person)),
  )
}

export const ASSIGNEE_OPERATIONS: readonly AnyOperation[] = [list, reviewers]
