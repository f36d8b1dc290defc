/** The BranchProtection of this API, and the bodies that create and edit one. */

import { type Static, type TSchema, Type } from 'typebox'
import type {
  ListMembers,
  Protection,
  ProtectionList,
} from '../../../sql/code/branch-protections.js'
import { isPattern } from '../../actions/code/branch-rules.js'
import { TIME } from '../schema.js'
import { apiTime } from '../times.js'

const CONTEXTS = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 100 })
const FILE_PATTERNS = Type.String({ maxLength: 1_000 })

/** Settings of a rule, as stored in the database. */
const SETTINGS = {
  enable_push: Type.Boolean(),
  enable_push_whitelist: Type.Boolean(),
  push_whitelist_deploy_keys: Type.Boolean(),
  enable_force_push: Type.Boolean(),
  enable_force_push_allowlist: Type.Boolean(),
  force_push_allowlist_deploy_keys: Type.Boolean(),
  enable_merge_whitelist: Type.Boolean(),
  enable_status_check: Type.Boolean(),
  status_check_contexts: CONTEXTS,
  required_approvals: Type.Integer({ minimum: 0, maximum: 1_000 }),
  enable_approvals_whitelist: Type.Boolean(),
  block_on_rejected_reviews: Type.Boolean(),
  block_on_official_review_requests: Type.Boolean(),
  block_on_outdated_branch: Type.Boolean(),
  dismiss_stale_approvals: Type.Boolean(),
  ignore_stale_approvals: Type.Boolean(),
  protected_file_patterns: FILE_PATTERNS,
  unprotected_file_patterns: FILE_PATTERNS,
  block_admin_merge_override: Type.Boolean(),
  require_signed_commits: Type.Boolean(),
}

const NAMES = Type.Array(Type.String(), { maxItems: 200 })

/** Fields that contain the users and the teams of each list. */
export const LIST_FIELDS = {
  push: { users: 'push_whitelist_usernames', teams: 'push_whitelist_teams' },
  force_push: { users: 'force_push_allowlist_usernames', teams: 'force_push_allowlist_teams' },
  merge: { users: 'merge_whitelist_usernames', teams: 'merge_whitelist_teams' },
  approvals: { users: 'approvals_whitelist_username', teams: 'approvals_whitelist_teams' },
} as const

const LISTS = {
  push_whitelist_usernames: NAMES,
  push_whitelist_teams: NAMES,
  force_push_allowlist_usernames: NAMES,
  force_push_allowlist_teams: NAMES,
  merge_whitelist_usernames: NAMES,
  merge_whitelist_teams: NAMES,
  approvals_whitelist_username: NAMES,
  approvals_whitelist_teams: NAMES,
}

const FIELDS = {
  ...SETTINGS,
  ...LISTS,
  priority: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
}

export const EDIT_BRANCH_PROTECTION_OPTION = Type.Object(optional(FIELDS), {
  $id: 'EditBranchProtectionOption',
})

export const CREATE_BRANCH_PROTECTION_OPTION = Type.Object(
  {
    rule_name: Type.Optional(Type.String({ maxLength: 255 })),
    branch_name: Type.Optional(Type.String({ maxLength: 255 })),
    ...optional(FIELDS),
  },
  { $id: 'CreateBranchProtectionOption' },
)

export type ProtectionOption = Static<typeof EDIT_BRANCH_PROTECTION_OPTION>

export const BRANCH_PROTECTION = Type.Object(
  {
    rule_name: Type.String(),
    branch_name: Type.String(),
    ...FIELDS,
    created_at: TIME,
    updated_at: TIME,
  },
  { $id: 'BranchProtection' },
)

function optional<T extends Record<string, TSchema>>(fields: T) {
  return Type.Partial(Type.Object(fields)).properties
}

/** Default settings of a rule: no user can push, and users with write access can merge. */
export const DEFAULT_SETTINGS: Protection['settings'] = {
  enable_push: false,
  enable_push_whitelist: false,
  push_whitelist_deploy_keys: false,
  enable_force_push: false,
  enable_force_push_allowlist: false,
  force_push_allowlist_deploy_keys: false,
  enable_merge_whitelist: false,
  enable_status_check: false,
  status_check_contexts: [],
  required_approvals: 0,
  enable_approvals_whitelist: false,
  block_on_rejected_reviews: false,
  block_on_official_review_requests: false,
  block_on_outdated_branch: false,
  dismiss_stale_approvals: false,
  ignore_stale_approvals: false,
  protected_file_patterns: '',
  unprotected_file_patterns: '',
  block_admin_merge_override: false,
  require_signed_commits: false,
}

/** Returns the settings that the body contains. */
export function sentSettings(body: ProtectionOption): Partial<Protection['settings']> {
  const known = Object.keys(DEFAULT_SETTINGS) as (keyof Protection['settings'])[]
  return Object.fromEntries(
    known.flatMap((key) => (body[key] === undefined ? [] : [[key, body[key]]])),
  )
}

/** Returns a rule as administrators of the repository see it. */
export function protectionObject(protection: Protection): Static<typeof BRANCH_PROTECTION> {
  const { ruleName, settings, lists, priority, createdAtMs, updatedAtMs } = protection
  return {
    rule_name: ruleName,
    branch_name: isPattern(ruleName) ? '' : ruleName,
    ...settings,
    status_check_contexts: [...settings.status_check_contexts],
    ...listFields(lists),
    priority,
    created_at: apiTime(createdAtMs),
    updated_at: apiTime(updatedAtMs),
  }
}

function listFields(lists: Readonly<Record<ProtectionList, ListMembers>>) {
  const names = (members: readonly { readonly name: string }[]) => members.map(({ name }) => name)
  return {
    push_whitelist_usernames: names(lists.push.users),
    push_whitelist_teams: names(lists.push.teams),
    force_push_allowlist_usernames: names(lists.force_push.users),
    force_push_allowlist_teams: names(lists.force_push.teams),
    merge_whitelist_usernames: names(lists.merge.users),
    merge_whitelist_teams: names(lists.merge.teams),
    approvals_whitelist_username: names(lists.approvals.users),
    approvals_whitelist_teams: names(lists.approvals.teams),
  }
}
