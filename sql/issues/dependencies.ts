/** Dependencies between issues: an issue is closed only after those that it depends on. */

import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import type { Viewer } from '../repositories/visibility.js'
import { recordIssueEvents } from './issue-events.js'
import { conversationsVisibleTo, IS_SERVED } from './issue-lists.js'
import { type Issue, selectIssues } from './issues.js'

export interface Dependency {
  /** Issue that depends on the other one. */
  readonly issueId: number
  readonly dependencyId: number
}

/** Maximum number of dependencies of an issue. */
export const DEPENDENCIES_MAX = 100

/**
 * Adds a dependency. Throws `conflict` if it exists, and `invalid` if the issue would depend on
 * itself, also through other issues, or would have too many dependencies.
 */
export async function addDependency(
  db: Database,
  { issueId, dependencyId }: Dependency,
  actorId: number,
): Promise<void> {
  await transaction(db, async (trx) => {
    // Rows are locked in the order of their ids, so that opposite dependencies exclude each other.
    const both = [issueId, dependencyId].sort((a, b) => a - b)
    for (const id of both) await trx('issues').where({ id }).forUpdate().first('id')
    const held: readonly { dependency_id: number }[] = await trx('issue_dependencies')
      .where({ issue_id: issueId })
      .select('dependency_id')
    if (held.some((row) => row.dependency_id === dependencyId)) {
      throw new Failure('conflict', 'The issue depends on that issue already.')
    }
    if (held.length >= DEPENDENCIES_MAX) {
      throw new Failure('invalid', `An issue has at most ${DEPENDENCIES_MAX} dependencies.`)
    }
    if (issueId === dependencyId || (await dependsOn(trx, dependencyId, issueId))) {
      throw new Failure('invalid', 'The issues would depend on each other.')
    }
    const row = { issue_id: issueId, dependency_id: dependencyId, created_at: Date.now() }
    await trx('issue_dependencies').insert(row)
    await recordIssueEvents(trx, eventsOf('add_dependency', { issueId, dependencyId }, actorId))
  })
}

/** Returns true if the issue depends on another one, directly or through others. */
async function dependsOn(trx: Database, issueId: number, otherId: number): Promise<boolean> {
  const rows = await selectRows(
    trx,
    `with recursive reached (id) as (
        select dependency_id from issue_dependencies where issue_id = ?
        union select d.dependency_id from issue_dependencies d join reached x on x.id = d.issue_id)
      select id from reached where id = ? limit 1`,
    [issueId, otherId],
  )
  return rows.length > 0
}

/** Removes a dependency. Throws `not_found` if it does not exist. */
export async function removeDependency(
  db: Database,
  { issueId, dependencyId }: Dependency,
  actorId: number,
): Promise<void> {
  await transaction(db, async (trx) => {
    const where = { issue_id: issueId, dependency_id: dependencyId }
    if ((await trx('issue_dependencies').where(where).delete()) === 0) {
      throw new Failure('not_found', 'The issue does not depend on that issue.')
    }
    await recordIssueEvents(trx, eventsOf('remove_dependency', { issueId, dependencyId }, actorId))
  })
}

/** Returns the events of both issues, each of which names the other one. */
function eventsOf(
  kind: 'add_dependency' | 'remove_dependency',
  { issueId, dependencyId }: Dependency,
  actorId: number,
) {
  return [
    { kind, actorId, issueId, otherIssueId: dependencyId },
    { kind, actorId, issueId: dependencyId, otherIssueId: issueId },
  ]
}

/** True if the issue depends on an open issue. */
export async function hasOpenDependency(db: Database, issueId: number): Promise<boolean> {
  const rows = await selectRows(
    db,
    `select i.id from issue_dependencies d join issues i on i.id = d.dependency_id
      where d.issue_id = ? and i.state = 'open' limit 1`,
    [issueId],
  )
  return rows.length > 0
}

export interface DependencyQuery {
  /** `dependencies` are issues that the issue depends on, `blocks` those that depend on it. */
  readonly side: 'dependencies' | 'blocks'
  readonly viewer: Viewer
  readonly page: Page
}

/** Returns the issues on one side of an issue's dependencies that the viewer can read. */
export async function listDependencies(
  db: Database,
  issueId: number,
  { side, viewer, page }: DependencyQuery,
): Promise<Paged<Issue>> {
  const [own, other] =
    side === 'blocks' ? ['dependency_id', 'issue_id'] : ['issue_id', 'dependency_id']
  const seen = conversationsVisibleTo(viewer)
  const where = `where i.id in (select ${other} from issue_dependencies where ${own} = ?)
    and exists (select 1 from repositories r join owners o on o.id = r.owner_id
      where r.id = i.repository_id and ${seen.where} and ${IS_SERVED})`
  const bindings = [issueId, ...seen.bindings]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from issues i ${where}`,
    bindings,
  )
  const entries = await selectIssues(
    db,
    `${where} order by i.created_at desc, i.id desc limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries, total: count?.total ?? 0 }
}
