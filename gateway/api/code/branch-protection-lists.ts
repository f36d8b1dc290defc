/** Lists of a protection rule for branches or tags: users, and teams of the organization. */

import { Failure } from '../../../conf/failures.js'
import { findUser } from '../../../sql/accounts/users.js'
import { type ListInputs, PROTECTION_LISTS } from '../../../sql/code/branch-protections.js'
import type { Database } from '../../../sql/database/database.js'
import { findTeamByName } from '../../../sql/organizations/teams.js'
import { accessToRepository, atLeast } from '../../../sql/repositories/access.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { isVisible } from '../../auth/visible-owner.js'
import { LIST_FIELDS, type ProtectionOption } from '../../objects/code/branch-protection-object.js'

/**
 * Returns the lists whose users or teams were sent. Throws `invalid` if a user or a team does not
 * exist.
 */
export async function protectionLists(
  db: Database,
  grant: RepositoryGrant,
  body: ProtectionOption,
): Promise<ListInputs> {
  const lists: { -readonly [K in keyof ListInputs]: ListInputs[K] } = {}
  for (const list of PROTECTION_LISTS) {
    const fields = LIST_FIELDS[list]
    const [users, teams] = [body[fields.users], body[fields.teams]]
    if (users === undefined && teams === undefined) continue
    lists[list] = {
      users: users && (await listedUsers(db, grant, users)),
      teams: teams && (await listedTeams(db, grant, teams)),
    }
  }
  return lists
}

/** Returns the ids of users. Throws `invalid` if one does not exist. */
export async function listedUsers(
  db: Database,
  grant: RepositoryGrant,
  names: readonly string[],
): Promise<readonly number[]> {
  return await idsOf(names, (name) => userId(db, grant, name))
}

/** Returns the ids of teams of the owner. Throws `invalid` if one does not exist. */
export async function listedTeams(
  db: Database,
  grant: RepositoryGrant,
  names: readonly string[],
): Promise<readonly number[]> {
  return await idsOf(names, (name) => teamId(db, grant, name))
}

async function idsOf(
  names: readonly string[],
  find: (name: string) => Promise<number>,
): Promise<readonly number[]> {
  const ids = new Set<number>()
  for (const name of names) ids.add(await find(name))
  return [...ids]
}

/**
 * Returns the id of a user. Users whom the caller cannot see count as existing if they have write
 * access, because the caller administers the repository.
 */
async function userId(db: Database, grant: RepositoryGrant, name: string): Promise<number> {
  const user = await findUser(db, name)
  const isKnown =
    user !== undefined &&
    (isVisible(user, grant.user) ||
      atLeast((await accessToRepository(db, user, grant.repository)).code, 'write'))
  if (isKnown) return user.id
  throw new Failure('invalid', `user does not exist [uid: 0, name: ${name}]`)
}

async function teamId(
  db: Database,
  { repository }: RepositoryGrant,
  name: string,
): Promise<number> {
  const { id } = repository.owner
  const team = await findTeamByName(db, id, name)
  if (team !== undefined) return team.id
  throw new Failure('invalid', `team does not exist [org_id ${id}, team_id 0, name: ${name}]`)
}
