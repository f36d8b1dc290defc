/** Branch protection rules: the rule that applies to a branch, and its permissions. */

import { parseGlob } from '../../../conf/lib/glob.js'
import type { User } from '../../../sql/accounts/users.js'
import {
  listProtections,
  type Protection,
  type ProtectionList,
} from '../../../sql/code/branch-protections.js'
import type { Database } from '../../../sql/database/database.js'
import { teamIdsOf } from '../../../sql/organizations/teams.js'
import { type AccessMode, accessToRepository, atLeast } from '../../../sql/repositories/access.js'
import type { Repository } from '../../../sql/repositories/repositories.js'

/** Returns the rule that applies to a branch, given by its short name; undefined if none does. */
export type RuleOf = (branch: string) => Protection | undefined

/** Reads the rules of a repository. */
export async function readBranchRules(db: Database, repositoryId: number): Promise<RuleOf> {
  return arrangeRules(await listProtections(db, repositoryId))
}

/**
 * Orders rules, the first match of which applies: by priority, then exact names before patterns,
 * then by age, oldest first.
 */
export function arrangeRules(protections: readonly Protection[]): RuleOf {
  const rules = protections
    .map((protection) => ({ protection, isExact: !isPattern(protection.ruleName) }))
    .sort(
      (one, other) =>
        one.protection.priority - other.protection.priority ||
        Number(other.isExact) - Number(one.isExact) ||
        one.protection.id - other.protection.id,
    )
    .map(({ protection }) => ({ protection, fits: branchTest(protection.ruleName) }))
  return (branch) => rules.find(({ fits }) => fits(branch))?.protection
}

/** True if the name of a rule is a pattern. */
export function isPattern(ruleName: string): boolean {
  return /[*?\\[\]{}]/.test(ruleName)
}

/** True if a rule may have that name: it is no pattern, or one that can be parsed. */
export function isRuleName(ruleName: string): boolean {
  return !isPattern(ruleName) || parseGlob(ruleName, '/') !== undefined
}

/**
 * Returns a function that matches branches. Case is ignored in an exact name, because file systems
 * of clients treat `Main` as `main`.
 */
function branchTest(ruleName: string): (branch: string) => boolean {
  const fits = isPattern(ruleName) ? parseGlob(ruleName, '/') : undefined
  if (fits !== undefined) return fits
  const folded = ruleName.toLowerCase()
  return (branch) => branch.toLowerCase() === folded
}

/** Pusher, merger or reviewer, with the facts that rules depend on. */
export interface Actor {
  /** Undefined for a deploy key with write permission. */
  readonly userId: number | undefined
  /** Access to code. */
  readonly mode: AccessMode
  /** Teams of the repository's organization that the user is a member of. */
  readonly teamIds: ReadonlySet<number>
}

/** Reads the facts of a user; undefined means a deploy key with write permission. */
export async function actorOf(
  db: Database,
  repository: Repository,
  user: User | undefined,
): Promise<Actor> {
  if (user === undefined) return { userId: undefined, mode: 'write', teamIds: new Set() }
  const [{ code: mode }, teamIds] = await Promise.all([
    accessToRepository(db, user, repository),
    teamIdsOf(db, repository.owner.id, user.id),
  ])
  return { userId: user.id, mode, teamIds }
}

function isListed({ lists }: Protection, list: ProtectionList, actor: Actor): boolean {
  const { users, teams } = lists[list]
  return (
    users.some(({ id }) => id === actor.userId) || teams.some(({ id }) => actor.teamIds.has(id))
  )
}

/** True if the rule permits the actor to push, whatever files change. */
export function mayPush(rule: Protection, actor: Actor): boolean {
  const { settings } = rule
  if (!settings.enable_push || !atLeast(actor.mode, 'write')) return false
  if (!settings.enable_push_whitelist) return true
  return actor.userId === undefined
    ? settings.push_whitelist_deploy_keys
    : isListed(rule, 'push', actor)
}

/** True if the rule permits the actor to force-push, which needs permission to push too. */
export function mayForcePush(rule: Protection, actor: Actor): boolean {
  const { settings } = rule
  if (!settings.enable_force_push || !mayPush(rule, actor)) return false
  if (!settings.enable_force_push_allowlist) return true
  return actor.userId === undefined
    ? settings.force_push_allowlist_deploy_keys
    : isListed(rule, 'force_push', actor)
}

/** True if the rule permits the actor to merge pull requests into the branch. */
export function mayMerge(rule: Protection, actor: Actor): boolean {
  if (actor.userId === undefined || !atLeast(actor.mode, 'write')) return false
  return !rule.settings.enable_merge_whitelist || isListed(rule, 'merge', actor)
}

/** True if a review of the actor counts. Without a rule or its list, that of each writer does. */
export function isOfficialReviewer(rule: Protection | undefined, actor: Actor): boolean {
  if (actor.userId === undefined) return false
  return rule?.settings.enable_approvals_whitelist === true
    ? atLeast(actor.mode, 'read') && isListed(rule, 'approvals', actor)
    : atLeast(actor.mode, 'write')
}
