/** The Branch of this API: a name, its youngest commit, and what the caller may do there. */

import { type Static, Type } from 'typebox'
import type { Commit } from '../../../cgi/commit-object.js'
import { atLeast } from '../../../sql/access.js'
import type { Context } from '../../context.js'
import { payloadCommits } from './commit-json.js'
import { PAYLOAD_COMMIT } from './commit-schema.js'
import type { RepositoryGrant } from './git-reader.js'

export const BRANCH = Type.Object(
  {
    name: Type.String(),
    commit: PAYLOAD_COMMIT,
    protected: Type.Boolean(),
    required_approvals: Type.Integer(),
    enable_status_check: Type.Boolean(),
    status_check_contexts: Type.Array(Type.String()),
    user_can_push: Type.Boolean(),
    user_can_merge: Type.Boolean(),
    effective_branch_protection_name: Type.String(),
  },
  { $id: 'Branch' },
)

export type BranchObject = Static<typeof BRANCH>

/** A branch by its short name, and its youngest commit. */
export interface Branch {
  readonly name: string
  readonly commit: Commit
}

/** Branches as the caller sees them, in their order. */
export async function branchObjects(
  context: Context,
  grant: RepositoryGrant,
  branches: readonly Branch[],
): Promise<BranchObject[]> {
  const tips = branches.map(({ commit }) => commit)
  const commits = await payloadCommits(context, grant, tips)
  const mayWrite = atLeast(grant.mode, 'write') && !grant.repository.isArchived
  return commits.map((commit, at) => ({
    name: branches[at]?.name ?? '',
    commit,
    protected: false,
    required_approvals: 0,
    enable_status_check: false,
    status_check_contexts: [],
    user_can_push: mayWrite,
    user_can_merge: mayWrite,
    effective_branch_protection_name: '',
  }))
}
