/** Tag protection rules of a repository: patterns of tag names, and who can change such tags. */

import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'
import type { ListInput, ListMembers } from './branch-protections.js'

export interface TagProtection {
  readonly id: number
  readonly repositoryId: number
  /** Glob pattern of tag names, or a regular expression between slashes. */
  readonly namePattern: string
  /** Users, and teams of the repository's organization, who can change tags that match. */
  readonly allowed: ListMembers
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Every push of a tag reads all rules of a repository. */
const PROTECTIONS_MAX = 100

const EXISTS = 'Tag protection already exist'

/**
 * Creates a rule and returns its id. Throws `conflict` if the repository has a rule with that
 * pattern, and `invalid` if it has too many rules.
 */
export async function createTagProtection(
  db: Database,
  wanted: Pick<TagProtection, 'repositoryId' | 'namePattern'> & { readonly allowed: ListInput },
): Promise<number> {
  const { repositoryId, namePattern, allowed } = wanted
  return await transaction(db, async (trx) => {
    const [found] = await selectRows<{ total: number }>(
      trx,
      'select count(*) as total from tag_protections where repository_id = ?',
      [repositoryId],
    )
    if ((found?.total ?? 0) >= PROTECTIONS_MAX) {
      throw new Failure(
        'invalid',
        `A repository can have at most ${PROTECTIONS_MAX} tag protection rules.`,
      )
    }
    const nowMs = Date.now()
    const [id] = await orConflict(EXISTS, () =>
      trx('tag_protections').insert({
        repository_id: repositoryId,
        name_pattern: namePattern,
        created_at: nowMs,
        updated_at: nowMs,
      }),
    )
    if (id === undefined) throw new Error('The insert returned no id.')
    await setAllowed(trx, id, allowed)
    return id
  })
}

/** Changes to a rule; undefined fields keep their value. */
export interface TagProtectionPatch {
  readonly namePattern: string | undefined
  readonly allowed: ListInput
}

/**
 * Changes a rule. Returns false if there is no such rule, and throws `conflict` if another rule of
 * the repository has the new pattern.
 */
export async function updateTagProtection(
  db: Database,
  protectionId: number,
  { namePattern, allowed }: TagProtectionPatch,
): Promise<boolean> {
  return await transaction(db, async (trx) => {
    const row = await trx('tag_protections').where({ id: protectionId }).forUpdate().first()
    if (row === undefined) return false
    const name_pattern: string = namePattern ?? row.name_pattern
    await orConflict(EXISTS, () =>
      trx('tag_protections')
        .where({ id: protectionId })
        .update({ name_pattern, updated_at: Date.now() }),
    )
    await setAllowed(trx, protectionId, allowed)
    return true
  })
}

async function setAllowed(
  trx: Database,
  protectionId: number,
  { users, teams }: ListInput,
): Promise<void> {
  for (const [column, ids] of [['user_id', users] as const, ['team_id', teams] as const]) {
    if (ids === undefined) continue
    const place = { protection_id: protectionId }
    await trx('tag_protection_members').where(place).whereNotNull(column).delete()
    const rows = ids.map((id) => ({ ...place, user_id: null, team_id: null, [column]: id }))
    if (rows.length > 0) await trx('tag_protection_members').insert(rows)
  }
}

/** Deletes a rule. Returns false if the repository has no rule with that id. */
export async function deleteTagProtection(
  db: Database,
  repositoryId: number,
  protectionId: number,
): Promise<boolean> {
  const place = { id: protectionId, repository_id: repositoryId }
  return (await db('tag_protections').where(place).delete()) > 0
}

/** Returns the rules of a repository, oldest first. */
export async function listTagProtections(
  db: Database,
  repositoryId: number,
): Promise<readonly TagProtection[]> {
  const rows = await selectRows<TagProtectionRow>(
    db,
    `select id, repository_id, name_pattern, created_at, updated_at
      from tag_protections where repository_id = ? order by id`,
    [repositoryId],
  )
  if (rows.length === 0) return []
  const members = await selectRows<MemberRow>(db, SELECT_MEMBERS, [repositoryId])
  return rows.map((row) => {
    const own = members.filter(({ protection_id }) => protection_id === row.id)
    return {
      id: row.id,
      repositoryId: row.repository_id,
      namePattern: row.name_pattern,
      allowed: {
        users: own.flatMap(({ user_id: id, name }) => (id === null ? [] : { id, name })),
        teams: own.flatMap(({ team_id: id, name }) => (id === null ? [] : { id, name })),
      },
      createdAtMs: row.created_at,
      updatedAtMs: row.updated_at,
    }
  })
}

interface TagProtectionRow {
  readonly id: number
  readonly repository_id: number
  readonly name_pattern: string
  readonly created_at: number
  readonly updated_at: number
}

/** Selects members of rules. Leaves out the teams of a former owner of the repository. */
const SELECT_MEMBERS = `select m.protection_id, m.user_id, m.team_id,
    coalesce(o.name, t.name) as name
  from tag_protection_members m
  join tag_protections p on p.id = m.protection_id
  join repositories r on r.id = p.repository_id
  left join owners o on o.id = m.user_id
  left join teams t on t.id = m.team_id and t.organization_id = r.owner_id
  where p.repository_id = ? and (o.id is not null or t.id is not null) order by m.id`

interface MemberRow {
  readonly protection_id: number
  readonly user_id: number | null
  readonly team_id: number | null
  readonly name: string
}
