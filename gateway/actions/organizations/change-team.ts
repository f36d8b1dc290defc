/** Creation, changes and deletion of the teams of an organization. */

import { Failure } from '../../../conf/failures.js'
import type { Database } from '../../../sql/database/database.js'
import {
  createTeam,
  deleteTeam,
  findTeam,
  type NewTeam,
  type Team,
  type TeamPatch,
  updateTeam,
} from '../../../sql/organizations/teams.js'
import { conflictAsInvalid } from '../accounts/conflict-as-invalid.js'
import { refuseLonger } from '../accounts/refuse-longer.js'

/** Maximum number of characters of the name, and of the description. */
export const TEAM_TEXT_CHARACTERS_MAX = 255

/** Creates a team. Throws `invalid` if its name is not permitted or taken. */
export async function makeTeam(db: Database, team: NewTeam): Promise<Team> {
  refuseTexts(team)
  return await conflictAsInvalid(() => createTeam(db, team))
}

/** Changes a team and returns its new state. Throws `invalid` for a name, as `makeTeam` does. */
export async function changeTeam(db: Database, team: Team, patch: TeamPatch): Promise<Team> {
  refuseTexts(patch)
  // Owners have fixed permissions, so only the description of their team can be changed.
  const kept = isOfOwners(team) ? describedOnly(patch) : patch
  await conflictAsInvalid(() => updateTeam(db, team.id, kept))
  return (await findTeam(db, team.id)) ?? team
}

/** Deletes a team. Throws `invalid` for the team of owners. */
export async function removeTeam(db: Database, team: Team): Promise<void> {
  if (isOfOwners(team)) {
    throw new Failure('invalid', 'The team of owners cannot be deleted.')
  }
  await deleteTeam(db, team.id)
}

/** True for the team whose members own the organization. */
export function isOfOwners(team: Team): boolean {
  return team.permission === 'owner'
}

function describedOnly({ description }: TeamPatch): TeamPatch {
  return description === undefined ? {} : { description }
}

function refuseTexts({ name, description }: TeamPatch): void {
  refuseLonger('name', name, TEAM_TEXT_CHARACTERS_MAX)
  refuseLonger('description', description, TEAM_TEXT_CHARACTERS_MAX)
  if (name === undefined) return
  if (!/^[A-Za-z0-9][A-Za-z0-9 ._-]*$/.test(name)) throw new Failure('invalid', NAME_RULE)
  // The form for a new team has the path of a team of this name.
  if (name.toLowerCase() === 'new') throw new Failure('invalid', `The name ${name} is reserved.`)
}

const NAME_RULE =
  "A team's name starts with a letter or a digit and contains only letters, digits, ' ._-'."
