/** The Branch of this API: a name, its tip, and the caller's permissions. */

import { type Static, Type } from 'typebox'
import type { Commit } from '../../../cgi/objects/commit-object.js'
import { teamIdsOf } from '../../../sql/organizations/teams.js'
import { atLeast } from '../../../sql/repositories/access.js'
import { mayMerge, mayPush, readBranchRules } from '../../actions/code/branch-rules.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import type { Context } from '../../request/context.js'
import { payloadCommits } from './commit-json.js'
import { PAYLOAD_COMMIT } from './commit-schema.js'

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

/** Short name of a branch, and its tip. */
export interface Branch {
  readonly name: string
  readonly commit: Commit
}

/** Returns the branches as the caller sees them, in the given order. */
export async function branchObjects(
  context: Context,
  grant: RepositoryGrant,
  branches: readonly Branch[],
): Promise<BranchObject[]> {
  const tips = branches.map(({ commit }) => commit)
  const commits = await payloadCommits(context, grant, tips)
  const { repository, user } = grant
  const ruleOf = await readBranchRules(context.db, repository.id)
  const rules = branches.map(({ name }) => ruleOf(name))
  const isTeamAsked = user !== undefined && rules.some((rule) => rule !== undefined)
  const actor = {
    userId: user?.id,
    mode: repository.isArchived ? 'read' : grant.mode,
    teamIds: isTeamAsked ? await teamIdsOf(context.db, repository.owner.id, user.id) : NO_TEAMS,
  } as const
  const mayWrite = atLeast(actor.mode, 'write')
  const isAdmin = atLeast(grant.mode, 'admin')
  return commits.map((commit, at) => {
    const rule = rules[at]
    return {
      name: branches[at]?.name ?? '',
      commit,
      protected: rule !== undefined,
      required_approvals: rule?.settings.required_approvals ?? 0,
      enable_status_check: rule?.settings.enable_status_check ?? false,
      status_check_contexts: [...(rule?.settings.status_check_contexts ?? [])],
      user_can_push: rule === undefined ? mayWrite : mayPush(rule, actor),
      user_can_merge: rule === undefined ? mayWrite : mayMerge(rule, actor),
      effective_branch_protection_name: isAdmin ? (rule?.ruleName ?? '') : '',
    }
  })
}

const NO_TEAMS: ReadonlySet<number> = new Set()
