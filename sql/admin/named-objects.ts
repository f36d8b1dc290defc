/** Rows of a repository that name objects of Git, and its rules: for the consistency checks. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { RowPage } from '../database/page.js'

export interface NamedObjectQuery extends RowPage {
  readonly repositoryId: number
}

/** A row and the Git object that it names. */
export interface NamedObject {
  readonly id: number
  /** Number of a pull request, tag name of a release, or name of a rule. */
  readonly name: string
  /** Commit of a pull request or of a scheduled merge; settings of a rule. */
  readonly value: string
}

/** Returns open pull requests, with the commit of their head. */
export async function listOpenHeads(
  db: Database,
  query: NamedObjectQuery,
): Promise<readonly NamedObject[]> {
  const sql = `select n.id as id, i.number as name, n.head_commit as value
    from pulls n join issues i on i.id = n.issue_id
    where n.repository_id = ? and i.state = 'open' and n.id > ? order by n.id limit ?`
  return await select(db, sql, query)
}

/** Returns published releases, with the name of their tag. */
export async function listPublishedTags(
  db: Database,
  query: NamedObjectQuery,
): Promise<readonly NamedObject[]> {
  const sql = `select n.id as id, n.tag_name as name, '' as value from releases n
    where n.repository_id = ? and n.is_draft = 0 and n.id > ? order by n.id limit ?`
  return await select(db, sql, query)
}

/** Returns scheduled merges, with the commit to merge. The id is that of the pull request. */
export async function listScheduledHeads(
  db: Database,
  query: NamedObjectQuery,
): Promise<readonly NamedObject[]> {
  const sql = `select n.id as id, i.number as name, m.head_commit as value
    from scheduled_merges m join pulls n on n.id = m.pull_id join issues i on i.id = n.issue_id
    where n.repository_id = ? and n.id > ? order by n.id limit ?`
  return await select(db, sql, query)
}

/** Returns the branch protection rules, with their settings as JSON. */
export async function listRuleTexts(
  db: Database,
  query: NamedObjectQuery,
): Promise<readonly NamedObject[]> {
  const sql = `select n.id as id, n.rule_name as name, n.settings as value
    from branch_protections n where n.repository_id = ? and n.id > ? order by n.id limit ?`
  return await select(db, sql, query)
}

async function select(
  db: Database,
  sql: string,
  { repositoryId, afterId, limit }: NamedObjectQuery,
): Promise<readonly NamedObject[]> {
  const rows = await selectRows<NamedObject>(db, sql, [repositoryId, afterId, limit])
  return rows.map(({ id, name, value }) => ({ id, name: String(name), value }))
}
