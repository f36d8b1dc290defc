/** Locks of issues over the API: only users with write access can comment on a locked issue. */

import { Type } from 'typebox'
import { type IssuePatch, updateIssue } from '../../../sql/issues/issues.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { issueOf } from '../../actions/issues/issue-access.js'
import { issueChanged } from '../../actions/issues/issue-changed.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { ISSUE_PARAMS } from './issue-params.js'

const PATH = '/repos/{owner}/{repo}/issues/{index}/lock'

const LOCK_ISSUE_OPTION = Type.Object(
  { lock_reason: Type.Optional(Type.String({ maxLength: 255 })) },
  { $id: 'LockIssueOption' },
)

const lock = defineOperation({
  id: 'issueLockIssue',
  method: 'PUT',
  path: PATH,
  summary: 'Lock an issue',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  body: LOCK_ISSUE_OPTION,
  success: { status: 204, schema: null },
  failures: [403, 404, 422, 423],
  handle: (context, { grant, params, body }) =>
    setLock(context, grant, { params, lock: { isLocked: true, lockReason: body.lock_reason } }),
})

const unlock = defineOperation({
  id: 'issueUnlockIssue',
  method: 'DELETE',
  path: PATH,
  summary: 'Unlock an issue',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'write' },
  scopes: ['write:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  handle: (context, { grant, params }) =>
    setLock(context, grant, { params, lock: { isLocked: false } }),
})

type Lock = Pick<IssuePatch, 'isLocked' | 'lockReason'>

async function setLock(
  context: Context,
  grant: Grants['repository'],
  { params, lock }: { params: Readonly<Record<string, string>>; lock: Lock },
) {
  const issue = await issueOf(context, grant, params)
  const actor = actingUserOf(grant)
  await updateIssue(context.db, issue.id, { ...lock, actorId: actor.id })
  await issueChanged(context, { repository: grant.repository, issue, actor, actions: [] })
  return { status: 204 }
}

export const ISSUE_LOCK_OPERATIONS: readonly AnyOperation[] = [lock, unlock]
