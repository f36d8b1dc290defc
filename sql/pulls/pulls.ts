/** Pull requests: the fields that they have besides those of their issue. */

import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'
import { createIssue, type Issue, type NewIssue, updateIssue } from '../issues/issues.js'

export interface Pull {
  readonly id: number
  readonly issueId: number
  readonly repositoryId: number
  /** Undefined if the head repository was deleted. */
  readonly headRepositoryId: number | undefined
  readonly headBranch: string
  readonly baseBranch: string
  /** Tip of the head branch when it was last read. */
  readonly headCommit: string
  /** Merge base of base and head; empty if they have no common ancestor. */
  readonly mergeBase: string
  readonly mergedAtMs: number | undefined
  readonly mergedById: number | undefined
  /**
   * Merge commit; while `mergedAtMs` is undefined, the commit that an unfinished merge was about to
   * make the tip of the base branch.
   */
  readonly mergeCommit: string | undefined
  readonly allowsMaintainerEdit: boolean
  readonly checked: {
    readonly base: string
    readonly head: string
    readonly isMergeable: boolean
  }
}

export type PullTargets = Pick<
  Pull,
  'repositoryId' | 'headRepositoryId' | 'headBranch' | 'baseBranch'
>

export interface NewPull {
  readonly issue: Omit<NewIssue, 'isPull' | 'repositoryId'>
  readonly targets: PullTargets
  readonly headCommit: string
  readonly mergeBase: string
  readonly allowsMaintainerEdit: boolean
}

/** Changes to a pull request; absent fields keep their value. */
export interface PullPatch {
  readonly headCommit?: string | undefined
  readonly mergeBase?: string | undefined
  readonly mergeCommit?: string | undefined
  readonly mergedById?: number | undefined
  readonly allowsMaintainerEdit?: boolean | undefined
  readonly checked?: Pull['checked'] | undefined
}

export interface IssueAndPull {
  readonly issue: Issue
  readonly pull: Pull
}

/**
 * Creates a pull request. Throws `conflict` if one is open for the same branches, and otherwise
 * like `createIssue`.
 */
export async function createPull(db: Database, wanted: NewPull): Promise<IssueAndPull> {
  const { targets } = wanted
  return await orTaken(db, targets, () =>
    transaction(db, async (trx) => {
      const { repositoryId } = targets
      await releaseClosed(trx, targets)
      const issue = await createIssue(trx, { ...wanted.issue, isPull: true, repositoryId })
      await trx('pulls').insert({
        issue_id: issue.id,
        repository_id: repositoryId,
        head_repository_id: targets.headRepositoryId ?? null,
        head_branch: targets.headBranch,
        base_branch: targets.baseBranch,
        head_commit: wanted.headCommit,
        merge_base: wanted.mergeBase,
        open_targets: digestOf(targets),
        allow_maintainer_edit: wanted.allowsMaintainerEdit,
        merged_at: null,
        merged_by: null,
        merge_commit: null,
        checked_base: '',
        checked_head: '',
        is_mergeable: false,
      })
      const pull = await findPull(trx, issue.id)
      if (pull === undefined) throw new Error('The inserted pull request was not found.')
      return { issue, pull }
    }),
  )
}

/**
 * Sets the targets of a pull request that is reopened or gets another base branch. Throws
 * `conflict` if another one is open for the same branches.
 */
export async function setTargets(
  db: Database,
  issue: { readonly id: number },
  targets: PullTargets,
): Promise<void> {
  await orTaken(db, targets, () =>
    transaction(db, async (trx) => {
      await releaseClosed(trx, targets)
      await trx('pulls')
        .where({ issue_id: issue.id })
        .update({ open_targets: digestOf(targets), base_branch: targets.baseBranch })
    }),
  )
}

/**
 * Clears the targets of closed pull requests. Closing one through its issue does not clear them.
 */
async function releaseClosed(trx: Database, targets: PullTargets): Promise<void> {
  await trx('pulls')
    .where({ open_targets: digestOf(targets) })
    .whereExists(
      trx('issues')
        .whereRaw('issues.id = pulls.issue_id')
        .where({ 'issues.state': 'closed' })
        .select('id'),
    )
    .update({ open_targets: null })
}

/** Returns the digest of the targets, which is unique among open pull requests. */
export function digestOf(targets: PullTargets): string {
  const { repositoryId, headRepositoryId, headBranch, baseBranch } = targets
  const text = JSON.stringify([repositoryId, headRepositoryId ?? 0, headBranch, baseBranch])
  return createHash('sha256').update(text).digest('hex')
}

async function orTaken<T>(db: Database, targets: PullTargets, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    const [holder] = await selectPulls(db, 'where p.open_targets = ?', [digestOf(targets)])
    if (holder === undefined) throw error
    throw new Failure('conflict', takenMessage(holder), { cause: error })
  }
}

/** Returns Gitea's message, which clients know. */
function takenMessage(pull: Pull): string {
  const facts = [
    `id: ${pull.id}`,
    `issue_id: ${pull.issueId}`,
    `head_repo_id: ${pull.headRepositoryId ?? -1}`,
    `base_repo_id: ${pull.repositoryId}`,
    `head_branch: ${pull.headBranch}`,
    `base_branch: ${pull.baseBranch}`,
  ]
  return `pull request already exists for these targets [${facts.join(', ')}]`
}

/** Returns the pull request of an issue. */
export async function findPull(db: Database, issueId: number): Promise<Pull | undefined> {
  return (await findPulls(db, [issueId])).get(issueId)
}

/** Returns the pull requests of the issues by issue id; issues that are none are left out. */
export async function findPulls(
  db: Database,
  issueIds: readonly number[],
): Promise<ReadonlyMap<number, Pull>> {
  if (issueIds.length === 0) return new Map()
  const places = issueIds.map(() => '?').join()
  const pulls = await selectPulls(db, `where p.issue_id in (${places})`, issueIds)
  return new Map(pulls.map((pull) => [pull.issueId, pull]))
}

/** Returns true if the head branch is also the head or base of another open pull request. */
export async function isHeadInUse(db: Database, pull: Pull): Promise<boolean> {
  const rows = await selectRows(
    db,
    `select p.id from pulls p join issues i on i.id = p.issue_id
      where p.id <> ? and i.state = 'open' and ((p.head_repository_id = ? and p.head_branch = ?)
        or (p.repository_id = ? and p.base_branch = ?)) limit 1`,
    [
      pull.id,
      pull.headRepositoryId ?? 0,
      pull.headBranch,
      pull.headRepositoryId ?? 0,
      pull.headBranch,
    ],
  )
  return rows.length > 0
}

/** Updates the stored fields of a pull request. */
export async function updatePull(db: Database, pullId: number, patch: PullPatch): Promise<void> {
  const columns = {
    head_commit: patch.headCommit,
    merge_base: patch.mergeBase,
    merge_commit: patch.mergeCommit,
    merged_by: patch.mergedById,
    allow_maintainer_edit: patch.allowsMaintainerEdit,
    checked_base: patch.checked?.base,
    checked_head: patch.checked?.head,
    is_mergeable: patch.checked?.isMergeable,
  }
  const given = Object.entries(columns).filter(([, value]) => value !== undefined)
  if (given.length === 0) return
  const values = Object.fromEntries(given) as Record<string, Knex.Value>
  await db('pulls').where({ id: pullId }).update(values)
}

/** Marks a pull request as merged and closes it. Does nothing if it is merged already. */
export async function markMerged(
  db: Database,
  pull: Pull,
  merge: Required<Pick<PullPatch, 'mergeCommit'>> & { readonly mergedById: number | undefined },
): Promise<void> {
  await transaction(db, async (trx) => {
    const changed = await trx('pulls')
      .where({ id: pull.id, merged_at: null })
      .update({
        merged_at: Date.now(),
        merged_by: merge.mergedById ?? null,
        merge_commit: merge.mergeCommit,
        open_targets: null,
      })
    if (changed > 0) {
      const closing = { state: 'closed', isMerged: true, actorId: merge.mergedById } as const
      await updateIssue(trx, pull.issueId, closing)
    }
  })
}

const SELECT_PULLS = `select p.id, p.issue_id, p.repository_id, p.head_repository_id, p.head_branch,
  p.base_branch, p.head_commit, p.merge_base, p.merged_at, p.merged_by, p.merge_commit,
  p.allow_maintainer_edit, p.checked_base, p.checked_head, p.is_mergeable from pulls p`

interface PullRow {
  readonly id: number
  readonly issue_id: number
  readonly repository_id: number
  readonly head_repository_id: number | null
  readonly head_branch: string
  readonly base_branch: string
  readonly head_commit: string
  readonly merge_base: string
  readonly merged_at: number | null
  readonly merged_by: number | null
  readonly merge_commit: string | null
  readonly allow_maintainer_edit: number
  readonly checked_base: string
  readonly checked_head: string
  readonly is_mergeable: number
}

async function selectPulls(
  db: Database,
  condition: string,
  bindings: readonly Knex.RawBinding[],
): Promise<readonly Pull[]> {
  const rows = await selectRows<PullRow>(db, `${SELECT_PULLS} ${condition}`, bindings)
  return rows.map((row) => ({
    id: row.id,
    issueId: row.issue_id,
    repositoryId: row.repository_id,
    headRepositoryId: row.head_repository_id ?? undefined,
    headBranch: row.head_branch,
    baseBranch: row.base_branch,
    headCommit: row.head_commit,
    mergeBase: row.merge_base,
    mergedAtMs: row.merged_at ?? undefined,
    mergedById: row.merged_by ?? undefined,
    mergeCommit: row.merge_commit ?? undefined,
    allowsMaintainerEdit: row.allow_maintainer_edit === 1,
    checked: {
      base: row.checked_base,
      head: row.checked_head,
      isMergeable: row.is_mergeable === 1,
    },
  }))
}
