/** Merges that wait until the checks of the head succeed; at most one for each pull request. */

import { Failure } from '../../conf/failures.js'
import { checkText } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'

export interface ScheduledMerge {
  readonly pullId: number
  /** User who scheduled the merge. */
  readonly doerId: number
  readonly style: string
  /** Title of the merge commit; title and message are empty for the default ones. */
  readonly title: string
  readonly message: string
  readonly deletesBranch: boolean
  /** Commit to merge. If the head is another commit, nothing is merged. */
  readonly headCommit: string
}

/** Schedules a merge. Throws `conflict` if the pull request has a scheduled merge already. */
export async function scheduleMerge(db: Database, merge: ScheduledMerge): Promise<void> {
  try {
    await db('scheduled_merges').insert({
      pull_id: merge.pullId,
      doer_id: merge.doerId,
      style: merge.style,
      title: merge.title,
      message: merge.message,
      deletes_branch: merge.deletesBranch,
      head_commit: checkText(merge.headCommit),
      created_at: Date.now(),
    })
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    const message =
      'pull request is already scheduled to auto merge when checks succeed ' +
      `[pull_id: ${merge.pullId}]`
    throw new Failure('conflict', message, { cause: error })
  }
}

/** Returns the scheduled merge of a pull request. */
export async function findScheduledMerge(
  db: Database,
  pullId: number,
): Promise<ScheduledMerge | undefined> {
  const [row] = await selectRows<MergeRow>(
    db,
    `select pull_id, doer_id, style, title, message, deletes_branch, head_commit
      from scheduled_merges where pull_id = ?`,
    [pullId],
  )
  if (row === undefined) return undefined
  return {
    pullId: row.pull_id,
    doerId: row.doer_id,
    style: row.style,
    title: row.title,
    message: row.message,
    deletesBranch: row.deletes_branch === 1,
    headCommit: row.head_commit,
  }
}

interface MergeRow {
  readonly pull_id: number
  readonly doer_id: number
  readonly style: string
  readonly title: string
  readonly message: string
  readonly deletes_branch: number
  readonly head_commit: string
}

/** Cancels a scheduled merge. Returns false if there is none. */
export async function cancelScheduledMerge(db: Database, pullId: number): Promise<boolean> {
  return (await db('scheduled_merges').where({ pull_id: pullId }).delete()) > 0
}

/**
 * Returns the ids of the pull requests of a repository whose scheduled merge waits for that commit.
 */
export async function listMergesOf(
  db: Database,
  { repositoryId, commitId }: { readonly repositoryId: number; readonly commitId: string },
): Promise<readonly number[]> {
  const rows = await selectRows<{ pull_id: number }>(
    db,
    `select s.pull_id from scheduled_merges s join pulls p on p.id = s.pull_id
      where s.head_commit = ? and p.repository_id = ? order by s.pull_id`,
    [checkText(commitId), repositoryId],
  )
  return rows.map(({ pull_id }) => pull_id)
}
