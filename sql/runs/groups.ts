/**
 * Concurrency groups of a repository. A group has at most one active and one pending member, each
 * of them a run or a job; a group without members has no row.
 */

import { createHash } from 'node:crypto'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { cut, NAME_CHARACTERS_MAX } from './cut.js'

/** A concurrency group as a workflow file names it. */
export interface Concurrency {
  readonly group: string
  /** True if a new member cancels the active one. */
  readonly cancels: boolean
}

/** The group of a run or job, and if it has entered or left the group. */
export interface Membership extends Concurrency {
  readonly key: string
  readonly state: 'outside' | 'entered' | 'left'
}

/** A run, or a job of a run, as a member of a group. */
export interface Member {
  readonly runId: number
  /** Id of the job; 0 for the run itself. */
  readonly jobId: number
}

/** The members of a group. */
export interface Group {
  readonly active: Member | undefined
  readonly pending: Member | undefined
  /** True if the active member is cancelled because of a newer one. */
  readonly isCancelled: boolean
}

/** Columns of the membership of a run or job, for `membershipOf`. */
export const MEMBERSHIP = [
  'concurrency_group',
  'concurrency_key',
  'concurrency_cancels',
  'group_state',
]

export interface MembershipRow {
  readonly concurrency_group: string | null
  readonly concurrency_key: string | null
  readonly concurrency_cancels: number
  readonly group_state: Membership['state']
}

/** Returns the membership in a row; undefined if the file names no group. */
export function membershipOf(row: MembershipRow): Membership | undefined {
  const { concurrency_group: group, concurrency_key: key } = row
  if (group === null || key === null) return undefined
  return { group, key, cancels: row.concurrency_cancels === 1, state: row.group_state }
}

/** Returns the columns of a new run or job. Groups are compared without case. */
export function columnsOf(concurrency: Concurrency | undefined): object {
  if (concurrency === undefined) return {}
  const { group, cancels } = concurrency
  return {
    concurrency_group: cut(group, NAME_CHARACTERS_MAX),
    concurrency_key: createHash('sha256').update(group.toLowerCase()).digest('hex'),
    concurrency_cancels: cancels,
  }
}

/** Number of groups that one statement locks. */
const UPSERTED = 100

/** Returns the groups with these keys, and excludes other callers until the transaction ends. */
export async function lockGroups(
  trx: Database,
  repositoryId: number,
  keys: readonly string[],
): Promise<Map<string, Group>> {
  const sorted = [...new Set(keys)].sort()
  if (sorted.length === 0) return new Map()
  // Statuses and tasks take this lock later, which a transaction that creates a run holds.
  await trx('repositories').where({ id: repositoryId }).forShare().first('id')
  // An upsert locks the row also if it is new, one after the other, in the same order always.
  for (let at = 0; at < sorted.length; at += UPSERTED) {
    const rows = sorted.slice(at, at + UPSERTED).map((group_key) => ({
      repository_id: repositoryId,
      group_key,
      is_cancelled: false,
    }))
    await trx('workflow_groups')
      .insert(rows)
      .onConflict(['repository_id', 'group_key'])
      .merge(['group_key'])
  }
  const rows: readonly GroupRow[] = await trx('workflow_groups')
    .where({ repository_id: repositoryId })
    .whereIn('group_key', sorted)
    .forUpdate()
  return new Map(rows.map((row) => [row.group_key, groupOf(row)]))
}

interface GroupRow {
  readonly group_key: string
  readonly active_run: number | null
  readonly active_job: number | null
  readonly pending_run: number | null
  readonly pending_job: number | null
  readonly is_cancelled: number
}

function groupOf(row: GroupRow): Group {
  return {
    active: memberOf(row.active_run, row.active_job),
    pending: memberOf(row.pending_run, row.pending_job),
    isCancelled: row.is_cancelled === 1,
  }
}

function memberOf(runId: number | null, jobId: number | null): Member | undefined {
  return runId === null ? undefined : { runId, jobId: jobId ?? 0 }
}

/** Stores the changed ones of the groups that a transaction has locked, and deletes empty ones. */
export async function writeGroups(
  trx: Database,
  repositoryId: number,
  {
    groups,
    changed,
  }: { readonly groups: ReadonlyMap<string, Group>; readonly changed: Set<string> },
): Promise<void> {
  for (const [key, { active, pending, isCancelled }] of groups) {
    if (!changed.has(key)) continue
    await trx('workflow_groups')
      .where({ repository_id: repositoryId, group_key: key })
      .update({
        active_run: active?.runId ?? null,
        active_job: active?.jobId ?? null,
        pending_run: pending?.runId ?? null,
        pending_job: pending?.jobId ?? null,
        is_cancelled: isCancelled,
      })
  }
  await trx('workflow_groups')
    .where({ repository_id: repositoryId, active_run: null })
    .whereIn('group_key', [...groups.keys()])
    .delete()
}

/** Records that a member has entered or left its group. */
export async function setMemberState(
  trx: Database,
  { runId, jobId }: Member,
  state: Membership['state'],
): Promise<void> {
  const row =
    jobId === 0
      ? trx('workflow_runs').where({ id: runId })
      : trx('workflow_jobs').where({ id: jobId })
  await row.update({ group_state: state })
}

/**
 * Returns the ids of runs that do not follow the state of their groups, because a process was
 * killed before it had changed them: active members that have not begun, that have ended or that
 * are to be cancelled, and members that a newer one has replaced.
 */
export async function listUnsettledRuns(db: Database, limit: number): Promise<readonly number[]> {
  const status = 'coalesce(j.status, r.status)'
  const absent = (member: string, id: string) => `not exists (select 1 from workflow_groups g
    where g.repository_id = r.repository_id and g.group_key = ${member}.concurrency_key
      and ((g.active_run = r.id and g.active_job = ${id})
        or (g.pending_run = r.id and g.pending_job = ${id})))`
  const rows = await selectRows<{ id: number }>(
    db,
    `select r.id from workflow_groups g join workflow_runs r on r.id = g.active_run
        left join workflow_jobs j on j.id = g.active_job
      where ${status} in ('blocked', 'success', 'failure', 'cancelled', 'skipped')
        or (g.is_cancelled = 1 and ${status} in ('waiting', 'running'))
    union select r.id from workflow_jobs j join workflow_runs r on r.id = j.run_id
      where j.status = 'blocked' and ((r.group_state = 'entered' and ${absent('r', '0')})
        or (j.group_state = 'entered' and ${absent('j', 'j.id')}))
    limit ?`,
    [limit],
  )
  return rows.map(({ id }) => id)
}
