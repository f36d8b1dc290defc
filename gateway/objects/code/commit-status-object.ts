/** The CommitStatus and the CombinedStatus of this API. */

import { type Static, Type } from 'typebox'
import {
  COMMIT_STATES,
  type CombinedStatus,
  type CommitStatus,
} from '../../../sql/code/commit-statuses.js'
import { worstStateOf } from '../../actions/code/commit-checks.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { personObject, USER_OBJECT } from '../accounts/user-object.js'
import { REPOSITORY_OBJECT, repositoryObject } from '../repositories/repository-object.js'
import { TIME } from '../schema.js'
import { apiTime } from '../times.js'

/** State of a status. Requests name the field `state`, a CommitStatus names it `status`. */
export const COMMIT_STATE = Type.Enum([...COMMIT_STATES])

export const COMMIT_STATUS = Type.Object(
  {
    id: Type.Integer(),
    status: COMMIT_STATE,
    context: Type.String(),
    description: Type.String(),
    target_url: Type.String(),
    url: Type.String(),
    creator: USER_OBJECT,
    created_at: TIME,
    updated_at: TIME,
  },
  { $id: 'CommitStatus' },
)

export const COMBINED_STATUS = Type.Object(
  {
    state: COMMIT_STATE,
    sha: Type.String(),
    total_count: Type.Integer(),
    statuses: Type.Array(COMMIT_STATUS),
    repository: REPOSITORY_OBJECT,
    commit_url: Type.String(),
    url: Type.String(),
  },
  { $id: 'CombinedStatus' },
)

/** Returns one status of a commit. */
export function commitStatusObject(
  context: Context,
  { repository, user }: Grants['repository'],
  status: CommitStatus,
): Static<typeof COMMIT_STATUS> {
  const { id, state, description, targetUrl, creator, commitId, createdAtMs } = status
  const { baseUrl } = context.settings.http
  return {
    id,
    status: state,
    context: status.context,
    description,
    target_url: targetUrl,
    url: `${baseUrl}/api/v1/repos/${repository.owner.name}/${repository.name}/statuses/${commitId}`,
    creator: personObject(context, creator, user),
    created_at: apiTime(createdAtMs),
    updated_at: apiTime(createdAtMs),
  }
}

/** Returns the combined status of a commit, with one page of its latest statuses. */
export async function combinedStatusObject(
  context: Context,
  grant: Grants['repository'],
  combined: CombinedStatus & { readonly commitId: string },
): Promise<Static<typeof COMBINED_STATUS>> {
  const { commitId, entries, total, states } = combined
  const repository = await repositoryObject(context, grant.repository, grant.modes)
  const commitUrl = `${repository.url}/commits/${commitId}`
  return {
    state: worstStateOf(states),
    sha: commitId,
    total_count: total,
    statuses: entries.map((status) => commitStatusObject(context, grant, status)),
    repository,
    commit_url: commitUrl,
    url: `${commitUrl}/status`,
  }
}
