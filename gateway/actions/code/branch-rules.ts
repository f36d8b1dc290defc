/** Which rule of a repository holds for a branch, and who may do what by it. */

import { parseGlob } from '../../../conf/glob.js'
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

/** The rule of a branch, told by its short name; undefined where it has none. */
export type RuleOf = (branch: string) => Protection | undefined

/** The rules of a repository as they are now. */
export async function readBranchRules(db: Database, repositoryId: number): Promise<RuleOf> {
  return arrangeRules(await listProtections(db, repositoryId))
}

/** The first that fits: by priority, then exact names before patterns, then the older one. */
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

/** Whether a rule's name means more than one branch. */
export function isPattern(ruleName: string): boolean {
  return /[*?\\[\]{}]/.test(ruleName)
}

/** Whether a rule may be called so: a name, or a pattern that can be read. */
export function isRuleName(ruleName: string): boolean {
  return !isPattern(ruleName) || parseGlob(ruleName, '/') !== undefined
}

/** One name in any case: file systems of clients take `Main` for `main`. */
function branchTest(ruleName: string): (branch: string) => boolean {
  const fits = isPattern(ruleName) ? parseGlob(ruleName, '/') : undefined
  if (fits !== undefined) return fits
  const folded = ruleName.toLowerCase()
  return (branch) => branch.toLowerCase() === folded
}

/** Somebody as the rules see them. */
export interface Actor {
  /** Undefined for a deploy key, which may write. */
  readonly userId: number | undefined
  readonly mode: AccessMode
  /** Of the organization that owns the repository. */
  readonly teamIds: ReadonlySet<number>
}

/** A user, or whoever holds a deploy key of the repository that writes. */
export async function actorOf(
  db: Database,
  repository: Repository,
  user: User | undefined,
): Promise<Actor> {
  if (user === undefined) return { userId: undefined, mode: 'write', teamIds: new Set() }
  const [mode, teamIds] = await Promise.all([
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

/** Whether somebody may push to a branch of the rule, by their person alone. */
export function mayPush(rule: Protection, actor: Actor): boolean {
  const { settings } = rule
  if (!settings.enable_push || !atLeast(actor.mode, 'write')) return false
  if (!settings.enable_push_whitelist) return true
  return actor.userId === undefined
    ? settings.push_whitelist_deploy_keys
    : isListed(rule, 'push', actor)
}

/** Whether they may replace its history: that is a push, and more. */
export function mayForcePush(rule: Protection, actor: Actor): boolean {
  const { settings } = rule
  if (!settings.enable_force_push || !mayPush(rule, actor)) return false
  if (!settings.enable_force_push_allowlist) return true
  return actor.userId === undefined
    ? settings.force_push_allowlist_deploy_keys
    : isListed(rule, 'force_push', actor)
}

/** Whether somebody may merge pull requests into a branch of the rule. */
export function mayMerge(rule: Protection, actor: Actor): boolean {
  if (actor.userId === undefined || !atLeast(actor.mode, 'write')) return false
  return !rule.settings.enable_merge_whitelist || isListed(rule, 'merge', actor)
}

/** Whether somebody's review counts; without a rule, as without a list, that of any writer. */
export function isOfficialReviewer(rule: Protection | undefined, actor: Actor): boolean {
  if (actor.userId === undefined) return false
  return rule?.settings.enable_approvals_whitelist === true
    ? atLeast(actor.mode, 'read') && isListed(rule, 'approvals', actor)
    : atLeast(actor.mode, 'write')
}
