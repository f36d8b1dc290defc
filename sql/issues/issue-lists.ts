/** Lists and searches of issues and pull requests. */

import { foldCase } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { type Condition, repositoriesVisibleTo, type Viewer } from '../repositories/visibility.js'
import { type Issue, type IssueState, selectIssues } from './issues.js'

/** Filter of issues; absent fields match every issue. */
export interface IssueFilter {
  readonly isPull?: boolean | undefined
  readonly state?: IssueState | undefined
  /** Names of labels, all of which the issue has. */
  readonly labels?: readonly string[]
  /** Ids or titles of milestones, one of which the issue has. */
  readonly milestones?: readonly string[]
  /** Part of the title or of the text. Case is ignored. */
  readonly text?: string | undefined
  /** Earliest time of the last change, inclusive. */
  readonly sinceMs?: number | undefined
  /** Latest time of the last change, exclusive. */
  readonly beforeMs?: number | undefined
  readonly authorId?: number | undefined
  readonly assigneeId?: number | undefined
  readonly mentionedId?: number | undefined
}

/** Returns the issues of a repository that match the filter, newest first. */
export async function listIssues(
  db: Database,
  repositoryId: number,
  { page, ...filter }: IssueFilter & { readonly page: Page },
): Promise<Paged<Issue>> {
  const conditions = [
    { where: 'i.repository_id = ?', bindings: [repositoryId] },
    ...conditionsOf(filter),
  ]
  return await listUnder(db, conditions, page)
}

export interface IssueSearch extends IssueFilter {
  readonly viewer: Viewer
  /** Owner of the repositories to search; undefined for all that the viewer may read. */
  readonly ownerName?: string | undefined
  readonly page: Page
}

/**
 * Returns the matching issues of all repositories that the viewer may read, newest first. Leaves
 * out those of units that the repository has disabled.
 */
export async function searchIssues(
  db: Database,
  { viewer, ownerName, page, ...filter }: IssueSearch,
): Promise<Paged<Issue>> {
  const seen = conversationsVisibleTo(viewer)
  const ofOwner = ownerName === undefined ? '' : 'and o.name_lower = ?'
  const where = `exists (select 1 from repositories r join owners o on o.id = r.owner_id
    where r.id = i.repository_id and ${seen.where} ${ofOwner} and ${IS_SERVED})`
  const names = ownerName === undefined ? [] : [foldCase(ownerName)]
  const conditions = [{ where, bindings: [...seen.bindings, ...names] }, ...conditionsOf(filter)]
  return await listUnder(db, conditions, page)
}

/**
 * Returns a condition for the issues and pull requests `i` of repositories `r` of owners `o` that
 * the viewer can read.
 */
export function conversationsVisibleTo(viewer: Viewer): Condition {
  const [issues, pulls] = [
    repositoriesVisibleTo(viewer, 'issues'),
    repositoriesVisibleTo(viewer, 'pulls'),
  ]
  return {
    where: `((i.is_pull = 0 and ${issues.where}) or (i.is_pull = 1 and ${pulls.where}))`,
    bindings: [...issues.bindings, ...pulls.bindings],
  }
}

/**
 * Condition that is true if repository `r` has the unit of issue `i` enabled: issues or pull
 * requests. Preferences are stored as JSON without whitespace, and a missing key means enabled.
 */
export const IS_SERVED = `instr(r.preferences, case when i.is_pull = 1
  then '"has_pull_requests":false' else '"has_issues":false' end) = 0`

async function listUnder(
  db: Database,
  conditions: readonly Condition[],
  page: Page,
): Promise<Paged<Issue>> {
  const where = `where ${conditions.map((condition) => condition.where).join(' and ')}`
  const bindings = conditions.flatMap((condition) => condition.bindings)
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

function conditionsOf(filter: IssueFilter): readonly Condition[] {
  const { isPull, state, sinceMs, beforeMs, text, authorId, assigneeId, mentionedId } = filter
  const person = (table: string) =>
    `exists (select 1 from ${table} x where x.issue_id = i.id and x.user_id = ?)`
  const inText = 'instr(lower(i.title), lower(?)) > 0 or instr(lower(i.content), lower(?)) > 0'
  return [
    ...when(isPull, (value) => ({ where: 'i.is_pull = ?', bindings: [Number(value)] })),
    ...when(state, (value) => ({ where: 'i.state = ?', bindings: [value] })),
    ...when(sinceMs, (value) => ({ where: 'i.updated_at >= ?', bindings: [value] })),
    ...when(beforeMs, (value) => ({ where: 'i.updated_at < ?', bindings: [value] })),
    ...when(text, (value) => ({ where: `(${inText})`, bindings: [value, value] })),
    ...when(authorId, (value) => ({ where: 'i.author_id = ?', bindings: [value] })),
    ...when(assigneeId, (value) => ({ where: person('issue_assignees'), bindings: [value] })),
    ...when(mentionedId, (value) => ({ where: person('issue_mentions'), bindings: [value] })),
    ...whenAny(filter.labels, withLabels),
    ...whenAny(filter.milestones, forMilestones),
  ]
}

function when<T>(value: T | undefined, make: (value: T) => Condition): readonly Condition[] {
  return value === undefined ? [] : [make(value)]
}

function whenAny(
  values: readonly string[] = [],
  make: (values: readonly string[]) => Condition,
): readonly Condition[] {
  return values.length === 0 ? [] : [make([...new Set(values)])]
}

/** Counts distinct names, because two labels can have the same name. */
function withLabels(names: readonly string[]): Condition {
  return {
    where: `(select count(distinct l.name) from issue_labels x join labels l on l.id = x.label_id
      where x.issue_id = i.id and l.name in (${placesOf(names)})) = ?`,
    bindings: [...names, names.length],
  }
}

function forMilestones(idsOrTitles: readonly string[]): Condition {
  const ids = idsOrTitles.filter((text) => /^\d{1,15}$/.test(text)).map(Number)
  const byId = ids.length === 0 ? '' : `m.id in (${placesOf(ids)}) or `
  return {
    where: `exists (select 1 from milestones m where m.id = i.milestone_id
      and (${byId}m.title in (${placesOf(idsOrTitles)})))`,
    bindings: [...ids, ...idsOrTitles],
  }
}

function placesOf(values: readonly unknown[]): string {
  return values.map(() => '?').join()
}
