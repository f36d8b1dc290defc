/** Lists and searches of repositories. */

import { foldCase } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { type Repository, selectRepositories } from './repositories.js'
import {
  type Condition,
  repositoriesAccessibleTo,
  repositoriesVisibleTo,
  type Viewer,
} from './visibility.js'

const SORT_COLUMNS = {
  alpha: 'r.name_lower',
  created: 'r.created_at',
  updated: 'r.updated_at',
  size: 'r.size_kib',
  forks: '(select count(*) from repository_forks f where f.parent_id = r.id)',
  stars: '(select count(*) from repository_stars x where x.repository_id = r.id)',
  id: 'r.id',
} as const

export type RepositorySort = keyof typeof SORT_COLUMNS

/** Search for repositories; absent fields match every repository. */
export interface RepositorySearch {
  /** Repositories that the viewer cannot see are left out. */
  readonly viewer: Viewer
  readonly id?: number | undefined
  readonly ownerId?: number | undefined
  /** User who owns the repositories, or has access as a collaborator or through a team. */
  readonly accessibleToId?: number | undefined
  /** Owner whose repositories are left out. */
  readonly notOwnerId?: number | undefined
  readonly teamId?: number | undefined
  /** Repository that they are forks of. */
  readonly parentId?: number | undefined
  /** User who has starred them. */
  readonly starredById?: number | undefined
  /** User who watches them. */
  readonly watchedById?: number | undefined
  /** Part of the name, or the owner's name, a slash and a part of the name. Case is ignored. */
  readonly text?: string | undefined
  /** True if the text is also searched in descriptions. */
  readonly hasTextInDescription?: boolean | undefined
  /** Exact name of a topic. */
  readonly topic?: string | undefined
  readonly isPrivate?: boolean | undefined
  readonly isArchived?: boolean | undefined
  readonly isTemplate?: boolean | undefined
  readonly isFork?: boolean | undefined
  readonly isMirror?: boolean | undefined
  /** Owner whose repositories come before all others. */
  readonly firstOwnerId?: number | undefined
  readonly sort?: RepositorySort
  readonly order?: 'asc' | 'desc'
}

/** Returns the repositories that match the search, by default oldest first. */
export async function searchRepositories(
  db: Database,
  search: RepositorySearch,
  page: Page,
): Promise<Paged<Repository>> {
  const { where, bindings } = conditionOf(search)
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from repositories r join owners o on o.id = r.owner_id where ${where}`,
    bindings,
  )
  const { sort = 'id', order = 'asc', firstOwnerId } = search
  const first = firstOwnerId === undefined ? '' : 'case when r.owner_id = ? then 0 else 1 end, '
  const entries = await selectRepositories(
    db,
    `where ${where} order by ${first}${SORT_COLUMNS[sort]} ${order}, r.id limit ? offset ?`,
    [
      ...bindings,
      ...(firstOwnerId === undefined ? [] : [firstOwnerId]),
      page.limit,
      offsetOf(page),
    ],
  )
  return { entries, total: count?.total ?? 0 }
}

/**
 * Returns the repositories that a user owns, or has access to as a collaborator or through a team,
 * oldest first.
 */
export async function listRepositoriesOf(
  db: Database,
  userId: number,
  page: Page,
): Promise<Paged<Repository>> {
  const viewer: Viewer = { kind: 'user', id: userId }
  return await searchRepositories(db, { viewer, accessibleToId: userId }, page)
}

function conditionOf(search: RepositorySearch): Condition {
  const conditions = [repositoriesVisibleTo(search.viewer), ...conditionsOf(search)]
  return {
    where: conditions.map(({ where }) => where).join(' and '),
    bindings: conditions.flatMap(({ bindings }) => bindings),
  }
}

function conditionsOf(search: RepositorySearch): readonly Condition[] {
  const { accessibleToId, text, isFork, isMirror } = search
  const plain = [
    ['r.id = ?', search.id],
    ['r.owner_id = ?', search.ownerId],
    ['r.owner_id <> ?', search.notOwnerId],
    [IN_TEAM, search.teamId],
    [
      'r.id in (select f.repository_id from repository_forks f where f.parent_id = ?)',
      search.parentId,
    ],
    [
      'r.id in (select x.repository_id from repository_stars x where x.user_id = ?)',
      search.starredById,
    ],
    [
      'r.id in (select x.repository_id from repository_watches x where x.user_id = ?)',
      search.watchedById,
    ],
    [WITH_TOPIC, search.topic === undefined ? undefined : foldCase(search.topic)],
    ['r.is_private = ?', flag(search.isPrivate)],
    ['r.is_archived = ?', flag(search.isArchived)],
    ['r.is_template = ?', flag(search.isTemplate)],
  ] as const
  return [
    ...plain.flatMap(([where, value]) =>
      value === undefined ? [] : [{ where, bindings: [value] }],
    ),
    ...(accessibleToId === undefined ? [] : [repositoriesAccessibleTo(accessibleToId)]),
    ...(isFork === undefined ? [] : [whether(isFork, IS_FORK)]),
    ...(isMirror === undefined ? [] : [whether(isMirror, IS_MIRROR)]),
    ...(text === undefined || text === '' ? [] : [textCondition(text, search)]),
  ]
}

function flag(value: boolean | undefined): number | undefined {
  return value === undefined ? undefined : Number(value)
}

function whether(isWanted: boolean, where: string): Condition {
  return { where: isWanted ? where : `not ${where}`, bindings: [] }
}

const IS_FORK = 'r.id in (select f.repository_id from repository_forks f)'

const IS_MIRROR = 'r.id in (select s.repository_id from repository_sources s where s.is_mirror = 1)'

/**
 * Condition for the repositories of a team: all of its organization, or those that were added to
 * it.
 */
const IN_TEAM = `exists (select 1 from teams t where t.id = ? and t.organization_id = r.owner_id
  and (t.includes_all_repositories = 1 or r.id in
    (select g.repository_id from team_repositories g where g.team_id = t.id)))`

const WITH_TOPIC = `r.id in (select l.repository_id from repository_topics l
  join topics p on p.id = l.topic_id where p.name = ?)`

function textCondition(
  text: string,
  { hasTextInDescription }: Pick<RepositorySearch, 'hasTextInDescription'>,
): Condition {
  const folded = foldCase(text)
  const slash = folded.indexOf('/')
  if (slash >= 0) {
    const where = '(o.name_lower = ? and instr(r.name_lower, ?) > 0)'
    return { where, bindings: [folded.slice(0, slash), folded.slice(slash + 1)] }
  }
  if (!hasTextInDescription) return { where: 'instr(r.name_lower, ?) > 0', bindings: [folded] }
  // The text can also be the name of a topic, as in Gitea.
  const where = `(instr(r.name_lower, ?) > 0 or instr(lower(r.description), ?) > 0 or ${WITH_TOPIC})`
  return { where, bindings: [folded, folded, folded] }
}
