/** Milestones of repositories. */

import type { Knex } from 'knex'
import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orNotFound } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import type { IssueState } from './issues.js'

export interface Milestone {
  readonly id: number
  readonly repositoryId: number
  readonly title: string
  readonly description: string
  readonly state: IssueState
  readonly dueAtMs: number | undefined
  readonly openIssues: number
  readonly closedIssues: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly closedAtMs: number | undefined
}

export type NewMilestone = Pick<
  Milestone,
  'repositoryId' | 'title' | 'description' | 'state' | 'dueAtMs'
>

/** Changes to a milestone; absent fields keep their value. */
export interface MilestonePatch {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly state?: IssueState | undefined
  readonly dueAtMs?: number | undefined
}

/** Creates a milestone. Throws `not_found` if the repository does not exist. */
export async function createMilestone(db: Database, milestone: NewMilestone): Promise<Milestone> {
  const nowMs = Date.now()
  const [id] = await orNotFound('The repository does not exist.', () =>
    db('milestones').insert({
      repository_id: milestone.repositoryId,
      title: milestone.title,
      description: milestone.description,
      state: milestone.state,
      due_at: milestone.dueAtMs ?? null,
      created_at: nowMs,
      updated_at: nowMs,
      closed_at: milestone.state === 'closed' ? nowMs : null,
    }),
  )
  if (id === undefined) throw new Error('The insert returned no id.')
  return {
    ...milestone,
    id,
    openIssues: 0,
    closedIssues: 0,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    closedAtMs: milestone.state === 'closed' ? nowMs : undefined,
  }
}

/** Returns a repository's milestone by its id, or else the oldest one with that title. */
export async function findMilestone(
  db: Database,
  repositoryId: number,
  idOrTitle: string,
): Promise<Milestone | undefined> {
  const id = /^\d{1,15}$/.test(idOrTitle) ? Number(idOrTitle) : 0
  const [found] = await selectMilestones(
    db,
    `where m.repository_id = ? and (m.id = ? or m.title = ?)
      order by case when m.id = ? then 0 else 1 end, m.id limit 1`,
    [repositoryId, id, idOrTitle, id],
  )
  return found
}

/** Returns the milestones with those ids by id; ids without a milestone are left out. */
export async function findMilestonesById(
  db: Database,
  milestoneIds: readonly number[],
): Promise<ReadonlyMap<number, Milestone>> {
  if (milestoneIds.length === 0) return new Map()
  const places = milestoneIds.map(() => '?').join()
  const found = await selectMilestones(db, `where m.id in (${places})`, milestoneIds)
  return new Map(found.map((milestone) => [milestone.id, milestone]))
}

export interface MilestoneQuery {
  readonly repositoryId: number
  /** Undefined for both states. */
  readonly state?: IssueState | undefined
  /** Part of the title. Case is ignored. */
  readonly title?: string | undefined
  readonly page: Page
}

/**
 * Returns the matching milestones of a repository, earliest due date first, those without one last.
 */
export async function listMilestones(
  db: Database,
  { repositoryId, state, title, page }: MilestoneQuery,
): Promise<Paged<Milestone>> {
  const where = `where m.repository_id = ? and (? is null or m.state = ?)
    and (? is null or instr(lower(m.title), lower(?)) > 0)`
  const [wanted, part] = [state ?? null, title ?? null]
  const bindings = [repositoryId, wanted, wanted, part, part]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from milestones m ${where}`,
    bindings,
  )
  const entries = await selectMilestones(
    db,
    `${where} order by case when m.due_at is null then 1 else 0 end, m.due_at, m.id
      limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries, total: count?.total ?? 0 }
}

/** Changes a milestone. Throws `not_found` if it does not exist. */
export async function updateMilestone(
  db: Database,
  milestoneId: number,
  patch: MilestonePatch,
): Promise<Milestone> {
  return await transaction(db, async (trx) => {
    await trx('milestones').where({ id: milestoneId }).forUpdate().first('id')
    const before = (await findMilestonesById(trx, [milestoneId])).get(milestoneId)
    if (before === undefined) throw milestoneNotFound()
    await trx('milestones').where({ id: milestoneId }).update(columnsOf(patch, before))
    const after = (await findMilestonesById(trx, [milestoneId])).get(milestoneId)
    if (after === undefined) throw milestoneNotFound()
    return after
  })
}

function milestoneNotFound(): Failure {
  return new Failure('not_found', 'The milestone does not exist.')
}

function columnsOf(patch: MilestonePatch, before: Milestone): Record<string, Knex.Value> {
  const nowMs = Date.now()
  const isNewState = patch.state !== undefined && patch.state !== before.state
  const columns = {
    title: patch.title,
    description: patch.description,
    state: patch.state,
    closed_at: isNewState ? (patch.state === 'closed' ? nowMs : null) : undefined,
    due_at: patch.dueAtMs,
    updated_at: nowMs,
  }
  const given = Object.entries(columns).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as Record<string, Knex.Value>
}

/**
 * Deletes a milestone and removes it from its issues. Returns false if there is no such milestone.
 */
export async function deleteMilestone(db: Database, milestoneId: number): Promise<boolean> {
  return await transaction(db, async (trx) => {
    return (await trx('milestones').where({ id: milestoneId }).delete()) > 0
  })
}

async function selectMilestones(
  db: Database,
  condition: string,
  bindings: readonly Knex.RawBinding[],
): Promise<readonly Milestone[]> {
  const rows = await selectRows<MilestoneRow>(db, `${SELECT_MILESTONES} ${condition}`, bindings)
  return rows.map((row) => ({
    id: row.id,
    repositoryId: row.repository_id,
    title: row.title,
    description: row.description,
    state: row.state,
    dueAtMs: row.due_at ?? undefined,
    openIssues: row.open_issues,
    closedIssues: row.closed_issues,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
    closedAtMs: row.closed_at ?? undefined,
  }))
}

const SELECT_MILESTONES = `select m.id, m.repository_id, m.title, m.description, m.state, m.due_at,
  m.created_at, m.updated_at, m.closed_at,
  (select count(*) from issues i where i.milestone_id = m.id and i.state = 'open') as open_issues,
  (select count(*) from issues i where i.milestone_id = m.id and i.state = 'closed') as closed_issues
  from milestones m`

interface MilestoneRow {
  readonly id: number
  readonly repository_id: number
  readonly title: string
  readonly description: string
  readonly state: IssueState
  readonly due_at: number | null
  readonly open_issues: number
  readonly closed_issues: number
  readonly created_at: number
  readonly updated_at: number
  readonly closed_at: number | null
}
