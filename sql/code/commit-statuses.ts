/**
 * Commit statuses, as reported by builds and checks. Each report is a row that is never changed.
 */

import { Failure } from '../../conf/failures.js'
import { OWNER_COLUMNS, type Owner, type OwnerRow, ownerOf } from '../accounts/owners.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

/** Commit states, most severe first; `skipped` means that the check did not run. */
export const COMMIT_STATES = [
  'error',
  'failure',
  'warning',
  'pending',
  'success',
  'skipped',
] as const

export type CommitState = (typeof COMMIT_STATES)[number]

export interface CommitStatus {
  readonly id: number
  readonly commitId: string
  readonly state: CommitState
  /** Name of the check; a later status replaces earlier ones with the same context. */
  readonly context: string
  readonly description: string
  readonly targetUrl: string
  /** Undefined for a status of a workflow job, and if the account was deleted. */
  readonly creator: Owner | undefined
  readonly createdAtMs: number
}

export interface NewCommitStatus {
  readonly repositoryId: number
  readonly commitId: string
  readonly state: CommitState
  readonly context: string
  readonly description: string
  readonly targetUrl: string
  /** Undefined for the statuses of workflow jobs. */
  readonly creatorId: number | undefined
}

/** Commit in a repository. */
export interface CommitPlace {
  readonly repositoryId: number
  readonly commitId: string
}

/** Inserts a status. Throws `not_found` if the repository does not exist. */
export async function addCommitStatus(
  db: Database,
  status: NewCommitStatus,
): Promise<CommitStatus> {
  return await transaction(db, async (trx) => {
    const [id] = await trx('commit_statuses')
      .insert({
        repository_id: status.repositoryId,
        commit_id: checkText(status.commitId),
        state: status.state,
        context: checkText(status.context),
        description: status.description,
        target_url: status.targetUrl,
        creator_id: status.creatorId ?? null,
        created_at: Date.now(),
      })
      .catch((error: unknown) => {
        if (!isReferenceViolation(error)) throw error
        throw new Failure('not_found', 'The repository does not exist.', { cause: error })
      })
    const [added] = await selectStatuses(trx, 's.id = ?', [id ?? 0])
    if (added === undefined) throw new Error('The inserted status was not found.')
    return added
  })
}

/**
 * Inserts the statuses whose contexts have no status yet, and returns them. All are about the same
 * commit. No run is created in the repository meanwhile.
 */
export async function addMissingStatuses(
  db: Database,
  { repositoryId, commitId }: CommitPlace,
  statuses: readonly Omit<NewCommitStatus, keyof CommitPlace>[],
): Promise<readonly CommitStatus[]> {
  return await transaction(db, async (trx) => {
    // The creation of a run takes the same lock.
    await trx('repositories').where({ id: repositoryId }).forUpdate().first('id')
    const rows = await selectRows<{ context: string }>(
      trx,
      'select distinct context from commit_statuses where repository_id = ? and commit_id = ?',
      [repositoryId, checkText(commitId)],
    )
    const existing = new Set(rows.map(({ context }) => context))
    const added: CommitStatus[] = []
    for (const status of statuses) {
      if (existing.has(status.context)) continue
      existing.add(status.context)
      added.push(await addCommitStatus(trx, { repositoryId, commitId, ...status }))
    }
    return added
  })
}

export interface StatusQuery extends CommitPlace {
  /** Undefined for statuses in any state. */
  readonly state: CommitState | undefined
  readonly order: 'newest' | 'oldest'
  readonly page: Page
}

/** Returns all statuses of a commit, including replaced ones. */
export async function listCommitStatuses(
  db: Database,
  { repositoryId, commitId, state, order, page }: StatusQuery,
): Promise<Paged<CommitStatus>> {
  const condition = `s.repository_id = ? and s.commit_id = ?${state === undefined ? '' : ' and s.state = ?'}`
  const bindings = [repositoryId, checkText(commitId), ...(state === undefined ? [] : [state])]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from commit_statuses s where ${condition}`,
    bindings,
  )
  const entries = await selectStatuses(
    db,
    `${condition} order by s.id ${order === 'newest' ? 'desc' : 'asc'} limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries, total: count?.total ?? 0 }
}

/** Latest status of each context, newest first, and the distinct states of them all. */
export interface CombinedStatus extends Paged<CommitStatus> {
  readonly states: readonly CommitState[]
}

/** Returns the latest status of each context on a commit. */
export async function combineCommitStatuses(
  db: Database,
  { repositoryId, commitId }: CommitPlace,
  page: Page,
): Promise<CombinedStatus> {
  const bindings = [repositoryId, checkText(commitId)]
  const counts = await selectRows<{ state: CommitState; total: number }>(
    db,
    `select s.state, count(*) as total from commit_statuses s where s.id in (${LAST_IDS})
      group by s.state`,
    bindings,
  )
  const entries = await selectStatuses(
    db,
    `s.id in (${LAST_IDS}) order by s.id desc limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  const total = counts.reduce((sum, { total }) => sum + Number(total), 0)
  return { entries, total, states: counts.map(({ state }) => state) }
}

const LAST_IDS = `select max(l.id) from commit_statuses l
  where l.repository_id = ? and l.commit_id = ? group by l.context`

const SELECT = `select s.id, s.commit_id, s.state, s.context, s.description, s.target_url,
  s.created_at, ${OWNER_COLUMNS}
  from commit_statuses s left join owners o on o.id = s.creator_id where`

async function selectStatuses(
  db: Database,
  condition: string,
  bindings: readonly (string | number)[],
): Promise<readonly CommitStatus[]> {
  const rows = await selectRows<StatusRow>(db, `${SELECT} ${condition}`, bindings)
  return rows.map(statusOf)
}

interface StatusRow extends Omit<OwnerRow, 'owner_id'> {
  /** Null if the creator was deleted. */
  readonly owner_id: number | null
  readonly id: number
  readonly commit_id: string
  readonly state: CommitState
  readonly context: string
  readonly description: string
  readonly target_url: string
  readonly created_at: number
}

function statusOf(row: StatusRow): CommitStatus {
  const { owner_id } = row
  return {
    id: row.id,
    commitId: row.commit_id,
    state: row.state,
    context: row.context,
    description: row.description,
    targetUrl: row.target_url,
    creator: owner_id === null ? undefined : ownerOf({ ...row, owner_id }),
    createdAtMs: row.created_at,
  }
}
