/** Branch protection rules of a repository, in the order of their evaluation. */

import { Failure } from '../../conf/failures.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'

/** Settings of a rule, with the names of the API. */
export interface ProtectionSettings {
  readonly enable_push: boolean
  readonly enable_push_whitelist: boolean
  readonly push_whitelist_deploy_keys: boolean
  readonly enable_force_push: boolean
  readonly enable_force_push_allowlist: boolean
  readonly force_push_allowlist_deploy_keys: boolean
  readonly enable_merge_whitelist: boolean
  readonly enable_status_check: boolean
  readonly status_check_contexts: readonly string[]
  readonly required_approvals: number
  readonly enable_approvals_whitelist: boolean
  readonly block_on_rejected_reviews: boolean
  readonly block_on_official_review_requests: boolean
  readonly block_on_outdated_branch: boolean
  readonly dismiss_stale_approvals: boolean
  readonly ignore_stale_approvals: boolean
  readonly protected_file_patterns: string
  readonly unprotected_file_patterns: string
  readonly block_admin_merge_override: boolean
  readonly require_signed_commits: boolean
}

export const PROTECTION_LISTS = ['push', 'force_push', 'merge', 'approvals'] as const

/** List of users and teams that a rule exempts from a restriction. */
export type ProtectionList = (typeof PROTECTION_LISTS)[number]

export interface Named {
  readonly id: number
  readonly name: string
}

/** Users, and teams of the repository's organization. */
export interface ListMembers {
  readonly users: readonly Named[]
  readonly teams: readonly Named[]
}

export interface Protection {
  readonly id: number
  readonly repositoryId: number
  /** Branch name, or a pattern of branch names. */
  readonly ruleName: string
  /** Rules with a lower number are evaluated first. */
  readonly priority: number
  readonly settings: ProtectionSettings
  readonly lists: Readonly<Record<ProtectionList, ListMembers>>
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Ids of the new members of each list; absent lists stay unchanged. */
export type ListInputs = Partial<Readonly<Record<ProtectionList, ListInput>>>

export interface ListInput {
  readonly users: readonly number[] | undefined
  readonly teams: readonly number[] | undefined
}

export interface NewProtection extends Pick<Protection, 'repositoryId' | 'ruleName' | 'settings'> {
  /** Priority; 0 for the lowest one. */
  readonly priority: number
  readonly lists: ListInputs
}

/** Every push and every list of branches reads all rules of a repository. */
const PROTECTIONS_MAX = 100

/**
 * Creates a rule. Throws `conflict` if the repository has a rule with that name, and `invalid` if
 * it has too many rules.
 */
export async function createProtection(db: Database, wanted: NewProtection): Promise<void> {
  const { repositoryId, ruleName, settings, lists } = wanted
  await transaction(db, async (trx) => {
    const [found] = await selectRows<{ total: number; last: number | null }>(
      trx,
      `select count(*) as total, max(priority) as last from branch_protections
        where repository_id = ?`,
      [repositoryId],
    )
    if ((found?.total ?? 0) >= PROTECTIONS_MAX) {
      throw new Failure(
        'invalid',
        `A repository can have at most ${PROTECTIONS_MAX} branch protection rules.`,
      )
    }
    const nowMs = Date.now()
    const [id] = await orConflict('Branch protection already exist', () =>
      trx('branch_protections').insert({
        repository_id: repositoryId,
        rule_name: ruleName,
        priority: wanted.priority || (found?.last ?? 0) + 1,
        settings: JSON.stringify(settings),
        created_at: nowMs,
        updated_at: nowMs,
      }),
    )
    if (id === undefined) throw new Error('The insert returned no id.')
    await setLists(trx, id, lists)
  })
}

/** Changes to a rule; absent fields keep their value. */
export interface ProtectionPatch {
  readonly settings: Partial<ProtectionSettings>
  readonly priority?: number | undefined
  readonly lists: ListInputs
}

/**
 * Changes a rule; `settings` is merged into the stored settings under a row lock. Returns false if
 * there is no such rule.
 */
export async function updateProtection(
  db: Database,
  protectionId: number,
  patch: ProtectionPatch,
): Promise<boolean> {
  return await transaction(db, async (trx) => {
    const row = await trx('branch_protections').where({ id: protectionId }).forUpdate().first()
    if (row === undefined) return false
    const settings = { ...JSON.parse(row.settings), ...patch.settings }
    const priority = patch.priority ?? row.priority
    await trx('branch_protections')
      .where({ id: protectionId })
      .update({ settings: JSON.stringify(settings), priority, updated_at: Date.now() })
    await setLists(trx, protectionId, patch.lists)
    return true
  })
}

async function setLists(trx: Database, protectionId: number, lists: ListInputs): Promise<void> {
  for (const list of PROTECTION_LISTS) {
    const { users, teams } = lists[list] ?? {}
    for (const [column, ids] of [['user_id', users] as const, ['team_id', teams] as const]) {
      if (ids === undefined) continue
      const place = { protection_id: protectionId, list }
      await trx('branch_protection_members').where(place).whereNotNull(column).delete()
      const rows = ids.map((id) => ({ ...place, user_id: null, team_id: null, [column]: id }))
      if (rows.length > 0) await trx('branch_protection_members').insert(rows)
    }
  }
}

/**
 * Gives these rules the highest priorities, in this order. Ids of other repositories are ignored.
 */
export async function orderProtections(
  db: Database,
  repositoryId: number,
  ids: readonly number[],
): Promise<void> {
  await transaction(db, async (trx) => {
    for (const [index, id] of ids.entries()) {
      await trx('branch_protections')
        .where({ id, repository_id: repositoryId })
        .update({ priority: index + 1 })
    }
  })
}

/** Deletes a rule. Returns false if the repository has no rule with that name. */
export async function deleteProtection(
  db: Database,
  repositoryId: number,
  ruleName: string,
): Promise<boolean> {
  const place = { repository_id: repositoryId, rule_name: checkText(ruleName) }
  return (await db('branch_protections').where(place).delete()) > 0
}

/** Returns true if a repository has any rule for branches or tags. Every push calls this. */
export async function hasPushRules(db: Database, repositoryId: number): Promise<boolean> {
  const rows = await selectRows(
    db,
    `select 1 from repositories r where r.id = ? and (
      exists (select 1 from branch_protections b where b.repository_id = r.id)
      or exists (select 1 from tag_protections t where t.repository_id = r.id))`,
    [repositoryId],
  )
  return rows.length > 0
}

/** Returns the rules of a repository, ordered by priority. */
export async function listProtections(
  db: Database,
  repositoryId: number,
): Promise<readonly Protection[]> {
  const rows = await selectRows<ProtectionRow>(
    db,
    `select id, repository_id, rule_name, priority, settings, created_at, updated_at
      from branch_protections where repository_id = ? order by priority, id`,
    [repositoryId],
  )
  if (rows.length === 0) return []
  const members = await selectRows<MemberRow>(db, SELECT_MEMBERS, [repositoryId])
  return rows.map((row) => {
    const own = members.filter(({ protection_id }) => protection_id === row.id)
    return {
      id: row.id,
      repositoryId: row.repository_id,
      ruleName: row.rule_name,
      priority: row.priority,
      // Rules of older releases lack the requirement of signatures.
      settings: { require_signed_commits: false, ...JSON.parse(row.settings) },
      lists: {
        push: membersOf(own, 'push'),
        force_push: membersOf(own, 'force_push'),
        merge: membersOf(own, 'merge'),
        approvals: membersOf(own, 'approvals'),
      },
      createdAtMs: row.created_at,
      updatedAtMs: row.updated_at,
    }
  })
}

interface ProtectionRow {
  readonly id: number
  readonly repository_id: number
  readonly rule_name: string
  readonly priority: number
  readonly settings: string
  readonly created_at: number
  readonly updated_at: number
}

/** Selects members of rules. Leaves out the teams of a former owner of the repository. */
const SELECT_MEMBERS = `select m.protection_id, m.list, m.user_id, m.team_id,
    coalesce(o.name, t.name) as name
  from branch_protection_members m
  join branch_protections p on p.id = m.protection_id
  join repositories r on r.id = p.repository_id
  left join owners o on o.id = m.user_id
  left join teams t on t.id = m.team_id and t.organization_id = r.owner_id
  where p.repository_id = ? and (o.id is not null or t.id is not null) order by m.id`

interface MemberRow {
  readonly protection_id: number
  readonly list: ProtectionList
  readonly user_id: number | null
  readonly team_id: number | null
  readonly name: string
}

function membersOf(rows: readonly MemberRow[], list: ProtectionList): ListMembers {
  const own = rows.filter((row) => row.list === list)
  return {
    users: own.flatMap(({ user_id: id, name }) => (id === null ? [] : { id, name })),
    teams: own.flatMap(({ team_id: id, name }) => (id === null ? [] : { id, name })),
  }
}
