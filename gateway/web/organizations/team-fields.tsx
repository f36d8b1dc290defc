/** Form fields of a team. */

import type { JSX } from 'preact/jsx-runtime'
import { Failure } from '../../../conf/failures.js'
import type { Team } from '../../../sql/organizations/teams.js'
import { isAlikeInEachUnit } from '../../../sql/repositories/access.js'
import { TEAM_TEXT_CHARACTERS_MAX } from '../../actions/organizations/change-team.js'
import { fieldOf } from '../kit/page.js'
import { TextField } from '../kit/text-field.js'

/** Permissions on the team's repositories, with their labels. */
const PERMISSIONS = [
  ['read', 'Read: clone, and write issues'],
  ['write', 'Write: push, and merge'],
  ['admin', 'Admin: also change settings, keys and webhooks'],
] as const

/** Fields of the form. */
export type TeamDetails = Pick<
  Team,
  'name' | 'description' | 'permission' | 'includesAll' | 'mayCreateRepositories'
>

export const NEW_TEAM: TeamDetails = {
  name: '',
  description: '',
  permission: 'read',
  includesAll: false,
  mayCreateRepositories: false,
}

/** Renders the fields; for the team of owners only the description, which alone can change. */
export function TeamFields({ team }: { readonly team: TeamDetails }): JSX.Element {
  const { name, description, permission } = team
  const charactersMax = TEAM_TEXT_CHARACTERS_MAX
  return (
    <>
      {permission !== 'owner' && (
        <TextField
          label="Name"
          name="name"
          value={name}
          charactersMax={charactersMax}
          isRequired={true}
        />
      )}
      <TextField
        label="Description"
        name="description"
        value={description}
        charactersMax={charactersMax}
      />
      {permission !== 'owner' && <Rights team={team} />}
    </>
  )
}

function Rights({ team }: { readonly team: TeamDetails }): JSX.Element {
  return (
    <>
      <fieldset>
        <legend>Permission</legend>
        {PERMISSIONS.map(([value, sentence]) => (
          <label class="choice">
            <input
              type="radio"
              name="permission"
              value={value}
              checked={value === team.permission}
            />{' '}
            {sentence}
          </label>
        ))}
      </fieldset>
      <label class="choice">
        <input type="checkbox" name="all" checked={team.includesAll} /> Access to all repositories,
        including future ones
      </label>
      <label class="choice">
        <input type="checkbox" name="create" checked={team.mayCreateRepositories} /> Members can
        create repositories
      </label>
    </>
  )
}

/** Renders the permission of a team, or those of its units if they differ. */
export function TeamRights({ team }: { readonly team: Team }): JSX.Element {
  if (isAlikeInEachUnit(team)) return <span class="label">{team.permission}</span>
  const units = Object.entries(team.units).map(
    ([name, mode]) => `${name.replace('repo.', '')}: ${mode}`,
  )
  return <span class="label">{units.join(', ')}</span>
}

/** Reads the form. Throws `invalid` if the permission is unknown. */
export function teamDetailsOf(form: URLSearchParams): TeamDetails {
  const permission = PERMISSIONS.find(([known]) => known === fieldOf(form, 'permission'))?.[0]
  if (permission === undefined)
    throw new Failure('invalid', 'The permission is missing or unknown. Choose a permission.')
  return { ...teamDetailsAsSent(form), permission }
}

/** Reads the form without validation, to show it again. */
export function teamDetailsAsSent(form: URLSearchParams): TeamDetails {
  const sent = fieldOf(form, 'permission')
  return {
    name: fieldOf(form, 'name'),
    description: fieldOf(form, 'description'),
    permission: PERMISSIONS.find(([known]) => known === sent)?.[0] ?? 'read',
    includesAll: form.has('all'),
    mayCreateRepositories: form.has('create'),
  }
}
