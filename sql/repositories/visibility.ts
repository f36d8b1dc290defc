/** SQL conditions that limit lists to what a viewer may see. Must agree with `access.ts`. */

import { type RepositoryUnit, teamGives } from './team-units.js'

/** Client that a list is for. */
export type Viewer =
  /** Anonymous client, or a token that is limited to public data. */
  | { readonly kind: 'anyone' }
  | AccountViewer
  /** Token that is limited to these repositories; it sees public data too. */
  | {
      readonly kind: 'token'
      readonly of: AccountViewer
      readonly repositoryIds: readonly number[]
    }

interface AccountViewer {
  readonly kind: 'user' | 'admin'
  readonly id: number
}

/** Part of a `where` clause with its bindings. */
export interface Condition {
  readonly where: string
  readonly bindings: readonly (string | number)[]
}

/**
 * Returns a condition for the repositories `r` of owners `o` of which `viewer` can read that unit,
 * by default any unit.
 */
export function repositoriesVisibleTo(
  viewer: Viewer,
  unit: RepositoryUnit | 'any' = 'any',
): Condition {
  switch (viewer.kind) {
    case 'admin':
      return { where: '1 = 1', bindings: [] }
    case 'anyone':
      return { where: SEEN_BY_ANYONE, bindings: [] }
    case 'token': {
      const { repositoryIds } = viewer
      if (repositoryIds.length === 0) return { where: SEEN_BY_ANYONE, bindings: [] }
      const seen = repositoriesVisibleTo(viewer.of, unit)
      const places = repositoryIds.map(() => '?').join()
      return {
        where: `(${SEEN_BY_ANYONE} or (r.id in (${places}) and ${seen.where}))`,
        bindings: [...repositoryIds, ...seen.bindings],
      }
    }
    default: {
      const reached = repositoriesAccessibleTo(viewer.id, unit)
      return {
        where: `(${reached.where} or (r.is_private = 0 and (o.visibility in ('public', 'limited')
          or o.id in (${SELECT_ORGANIZATIONS}))))`,
        bindings: [...reached.bindings, viewer.id],
      }
    }
  }
}

/**
 * Returns a condition for the repositories `r` that the user owns, or of which a collaborator's
 * permission or a team gives access to that unit, by default to any.
 */
export function repositoriesAccessibleTo(
  userId: number,
  unit: RepositoryUnit | 'any' = 'any',
): Condition {
  const units = unit === 'pulls' ? (['pulls', 'code'] as const) : [unit]
  return {
    where: `(r.owner_id = ? or r.id in (${SELECT_COLLABORATIONS})
      or (${units.map(givenBySome).join(' and ')}))`,
    bindings: [userId, userId, ...units.flatMap(() => [userId, userId])],
  }
}

/** Condition for the repositories `r` of which a team of a user gives access to the unit. */
function givenBySome(unit: RepositoryUnit | 'any'): string {
  const gives = teamGives(unit)
  return `(r.id in (select g.repository_id ${TEAMS}
      join team_repositories g on g.team_id = t.id where m.user_id = ? and ${gives})
    or r.owner_id in (select t.organization_id ${TEAMS} where m.user_id = ? and
      (t.permission = 'owner' or (t.includes_all_repositories = 1 and ${gives}))))`
}

/** Returns a condition for the owners `o` that `viewer` may know of. */
export function ownersVisibleTo(viewer: Viewer): Condition {
  switch (viewer.kind) {
    case 'admin':
      return { where: '1 = 1', bindings: [] }
    case 'anyone':
    case 'token':
      return { where: "o.visibility = 'public'", bindings: [] }
    default:
      return {
        where: `(o.visibility in ('public', 'limited') or o.id = ?
          or o.id in (${SELECT_ORGANIZATIONS}))`,
        bindings: [viewer.id, viewer.id],
      }
  }
}

const SEEN_BY_ANYONE = "(r.is_private = 0 and o.visibility = 'public')"

const SELECT_COLLABORATIONS = 'select repository_id from collaborators where user_id = ?'

const TEAMS = 'from team_members m join teams t on t.id = m.team_id'

const SELECT_ORGANIZATIONS = `select t.organization_id ${TEAMS} where m.user_id = ?`
