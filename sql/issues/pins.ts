/** Pinned issues and pull requests of a repository, which lists show first. */

import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { recordIssueEvents } from './issue-events.js'
import { type Issue, selectIssues } from './issues.js'

/** Maximum number of pinned issues of a repository, and of pinned pull requests. */
export const PINS_MAX = 3

type Pinnable = Pick<Issue, 'id' | 'repositoryId' | 'isPull'>

/** Pins an issue after the others. Throws `bad_request` if there are PINS_MAX already. */
export async function pinIssue(db: Database, issue: Pinnable, actorId: number): Promise<void> {
  await changePins(db, issue, async (trx, pinned) => {
    if (pinned.includes(issue.id)) return pinned
    if (pinned.length >= PINS_MAX) {
      const what = issue.isPull ? 'pull requests' : 'issues'
      throw new Failure('bad_request', `A repository has at most ${PINS_MAX} pinned ${what}.`)
    }
    await recordIssueEvents(trx, [{ issueId: issue.id, actorId, kind: 'pin' }])
    return [...pinned, issue.id]
  })
}

/** Unpins an issue. Does nothing if it is not pinned. */
export async function unpinIssue(db: Database, issue: Pinnable, actorId: number): Promise<void> {
  await changePins(db, issue, async (trx, pinned) => {
    if (!pinned.includes(issue.id)) return pinned
    await recordIssueEvents(trx, [{ issueId: issue.id, actorId, kind: 'unpin' }])
    return pinned.filter((id) => id !== issue.id)
  })
}

/**
 * Moves a pinned issue to a position, of which the first is 1; a larger one means the last. Throws
 * `not_found` if the issue is not pinned.
 */
export async function moveIssuePin(db: Database, issue: Pinnable, position: number): Promise<void> {
  await changePins(db, issue, async (_, pinned) => {
    if (!pinned.includes(issue.id)) throw new Failure('not_found', 'The issue is not pinned.')
    const others = pinned.filter((id) => id !== issue.id)
    const at = Math.max(0, position - 1)
    return [...others.slice(0, at), issue.id, ...others.slice(at)]
  })
}

/** Replaces the pins of one kind by those that `change` returns, under the repository's lock. */
async function changePins(
  db: Database,
  { repositoryId, isPull }: Pinnable,
  change: (trx: Database, pinned: readonly number[]) => Promise<readonly number[]>,
): Promise<void> {
  await transaction(db, async (trx) => {
    await trx('repositories').where({ id: repositoryId }).forUpdate().first('id')
    const of = { repository_id: repositoryId, is_pull: isPull }
    const rows: readonly { issue_id: number }[] = await trx('issue_pins')
      .where(of)
      .orderBy('position')
      .select('issue_id')
    const before = rows.map((row) => row.issue_id)
    const after = await change(trx, before)
    if (after === before) return
    await trx('issue_pins').where(of).delete()
    if (after.length === 0) return
    await trx('issue_pins').insert(
      after.map((issue_id, at) => ({ ...of, issue_id, position: at + 1 })),
    )
  })
}

/** Returns the pinned issues, or pull requests, of a repository in their order. */
export async function listPinned(
  db: Database,
  { repositoryId, isPull }: Omit<Pinnable, 'id'>,
): Promise<readonly Issue[]> {
  return await selectIssues(
    db,
    `join issue_pins x on x.issue_id = i.id where x.repository_id = ? and x.is_pull = ?
      order by x.position`,
    [repositoryId, Number(isPull)],
  )
}

/** Returns the positions of the pinned issues among these, by their ids. */
export async function pinPositions(
  db: Database,
  issueIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (issueIds.length === 0) return new Map()
  const rows = await selectRows<{ issue_id: number; position: number }>(
    db,
    `select issue_id, position from issue_pins
      where issue_id in (${issueIds.map(() => '?').join()})`,
    issueIds,
  )
  return new Map(rows.map((row) => [row.issue_id, row.position]))
}
