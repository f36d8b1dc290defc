/** SQL conditions that limit lists to what a viewer may see. */

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

/** Returns a condition for the repositories `r` of owners `o` that `viewer` can read. */
export function repositoriesVisibleTo(viewer: Viewer): Condition {
  switch (viewer.kind) {
    case 'admin':
      return { where: '1 = 1', bindings: [] }
    case 'anyone':
      return { where: SEEN_BY_ANYONE, bindings: [] }
    case 'token': {
      const { repositoryIds } = viewer
      if (repositoryIds.length === 0) return { where: SEEN_BY_ANYONE, bindings: [] }
      const seen = repositoriesVisibleTo(viewer.of)
      const places = repositoryIds.map(() => '?').join()
      return {
        where: `(${SEEN_BY_ANYONE} or (r.id in (${places}) and ${seen.where}))`,
        bindings: [...repositoryIds, ...seen.bindings],
      }
    }
    default: {
      const reached = repositoriesAccessibleTo(viewer.id)
      return {
        where: `(${reached.where} or (r.is_private = 0 and (o.visibility in ('public', 'limited')
          or o.id in (${SELECT_ORGANIZATIONS}))))`,
        bindings: [...reached.bindings, viewer.id],
      }
    }
  }
}

/**
 * Returns a condition for the repositories `r` that the user owns, or has access to as a
 * collaborator or through a team.
 */
export function repositoriesAccessibleTo(userId: number): Condition {
  return {
    where: `(r.owner_id = ? or r.id in (${SELECT_COLLABORATIONS}) or r.id in (${SELECT_GIVEN})
      or r.owner_id in (${SELECT_WHOLE}))`,
    bindings: [userId, userId, userId, userId],
  }
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

/** Repositories that were added to a team individually. */
const SELECT_GIVEN = `select g.repository_id ${TEAMS}
  join team_repositories g on g.team_id = t.id where m.user_id = ? and t.permission <> 'none'`

/** Organizations in which a team of the user has access to all repositories. */
const SELECT_WHOLE = `select t.organization_id ${TEAMS} where m.user_id = ? and
  (t.permission = 'owner' or (t.includes_all_repositories = 1 and t.permission <> 'none'))`
