/** Assignees of issues, users mentioned in them, and users who can be assigned. */

import { USER_COLUMNS, USER_TABLES, type User, type UserRow, userOf } from '../accounts/users.js'
import { foldCase } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { Repository } from '../repositories/repositories.js'
import { teamGives } from '../repositories/team-units.js'

/** Adds assignees to an issue. The caller has checked that they can be assigned. */
export async function addIssueAssignees(
  db: Database,
  issueId: number,
  userIds: readonly number[],
): Promise<void> {
  await insertPeople(db, 'issue_assignees', { issueId, userIds })
}

/** Replaces the assignees of an issue. Returns the ids of added and removed assignees. */
export async function replaceIssueAssignees(
  trx: Database,
  issueId: number,
  userIds: readonly number[],
): Promise<{ readonly assigned: readonly number[]; readonly unassigned: readonly number[] }> {
  const rows: readonly { user_id: number }[] = await trx('issue_assignees')
    .where({ issue_id: issueId })
    .select('user_id')
  const held = rows.map((row) => row.user_id)
  const assigned = userIds.filter((id) => !held.includes(id))
  const unassigned = held.filter((id) => !userIds.includes(id))
  if (unassigned.length > 0) {
    const where = { issue_id: issueId }
    await trx('issue_assignees').where(where).whereIn('user_id', unassigned).delete()
  }
  await addIssueAssignees(trx, issueId, assigned)
  return { assigned, unassigned }
}

/** Matches `@name` unless it follows a letter, as in an e-mail address. */
const MENTION = /(?<![\w.@/-])@([A-Za-z0-9](?:[\w.-]{0,38}[A-Za-z0-9])?)/g

const MENTIONS_MAX = 50

/** Stores the users whom a text mentions. Mentions of earlier texts are kept. */
export async function noteMentions(db: Database, issueId: number, text: string): Promise<void> {
  await insertPeople(db, 'issue_mentions', { issueId, userIds: await listMentioned(db, text) })
}

/** Returns the ids of the users whom a text mentions, for up to MENTIONS_MAX names. */
export async function listMentioned(db: Database, text: string): Promise<readonly number[]> {
  const names = new Set<string>()
  for (const [, name = ''] of text.matchAll(MENTION)) {
    names.add(foldCase(name))
    if (names.size === MENTIONS_MAX) break
  }
  if (names.size === 0) return []
  const rows = await selectRows<{ id: number }>(
    db,
    `select u.owner_id as id from users u join owners o on o.id = u.owner_id
      where o.name_lower in (${[...names].map(() => '?').join()})`,
    [...names],
  )
  return rows.map(({ id }) => id)
}

interface People {
  readonly issueId: number
  readonly userIds: readonly number[]
}

async function insertPeople(
  db: Database,
  table: 'issue_assignees' | 'issue_mentions',
  { issueId, userIds }: People,
): Promise<void> {
  if (userIds.length === 0) return
  const rows = [...new Set(userIds)].map((id) => ({ issue_id: issueId, user_id: id }))
  await db(table).insert(rows).onConflict(['issue_id', 'user_id']).ignore()
}

/** Returns the assignees of each issue. */
export async function assigneesOfIssues(
  db: Database,
  issueIds: readonly number[],
): Promise<ReadonlyMap<number, readonly User[]>> {
  const assignees = new Map<number, User[]>()
  if (issueIds.length === 0) return assignees
  const rows = await selectRows<UserRow & { readonly issue_id: number }>(
    db,
    `select x.issue_id, ${USER_COLUMNS} from ${USER_TABLES}
      join issue_assignees x on x.user_id = u.owner_id
      where x.issue_id in (${issueIds.map(() => '?').join()}) order by x.user_id`,
    issueIds,
  )
  for (const row of rows) {
    assignees.set(row.issue_id, [...(assignees.get(row.issue_id) ?? []), userOf(row)])
  }
  return assignees
}

/**
 * Returns the active users who can write to the issues or pull requests of the repository, ordered
 * by name: the owner, collaborators and members of teams.
 */
export async function listAssignable(
  db: Database,
  repository: Repository,
): Promise<readonly User[]> {
  return await listPeople(db, repository, {
    collaborators: "mode in ('write', 'admin')",
    teams: `(${teamGives('issues', 'write')} or ${teamGives('pulls', 'write')})`,
  })
}

/** Returns the active users who can be requested to review, ordered by name. */
export async function listReviewers(
  db: Database,
  repository: Repository,
): Promise<readonly User[]> {
  return await listPeople(db, repository, {
    collaborators: "mode in ('read', 'write', 'admin')",
    teams: `(${teamGives('code', 'read')} and ${teamGives('pulls', 'read')})`,
  })
}

/** Conditions in SQL for collaborators, and for teams with the alias `t`. */
interface PeopleConditions {
  readonly collaborators: string
  readonly teams: string
}

async function listPeople(
  db: Database,
  repository: Repository,
  { collaborators, teams }: PeopleConditions,
): Promise<readonly User[]> {
  const rows = await selectRows<UserRow>(
    db,
    `select ${USER_COLUMNS} from ${USER_TABLES}
      where u.is_active = 1 and u.is_login_prohibited = 0 and (u.owner_id = ?
        or u.owner_id in (select user_id from collaborators
          where repository_id = ? and ${collaborators})
        or u.owner_id in (select m.user_id from team_members m join teams t on t.id = m.team_id
          left join team_repositories g on g.team_id = t.id and g.repository_id = ?
          where t.organization_id = ? and (t.permission = 'owner'
            or (${teams} and (t.includes_all_repositories = 1 or g.team_id is not null)))))
      order by o.name_lower`,
    [repository.owner.id, repository.id, repository.id, repository.owner.id],
  )
  return rows.map(userOf)
}
