/** Users who can be assigned to a repository's issues, over the API. */

import { Type } from 'typebox'
import { listAssignable } from '../../../sql/issues/issue-people.js'
import { isVisible } from '../../auth/visible-owner.js'
import { ownerObject, USER_OBJECT } from '../../objects/accounts/user-object.js'
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
  async handle(context, { grant }) {
    const people = await listAssignable(context.db, grant.repository)
    const seen = people.filter((person) => isVisible(person, grant.user))
    return jsonReply(
      200,
      seen.map((person) => ownerObject(context, person)),
    )
  },
})

export const ASSIGNEE_OPERATIONS: readonly AnyOperation[] = [list]
