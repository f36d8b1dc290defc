/** Teams of an organization: list and form for a new team. */

import type { JSX } from 'preact/jsx-runtime'
import { listTeams, type Team, teamIdsOf } from '../../../sql/organizations/teams.js'
import { makeTeam } from '../../actions/organizations/change-team.js'
import type { Grants } from '../../auth/authorize.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { htmlReply } from '../kit/html.js'
import { organizationPath } from '../kit/links.js'
import { definePage, pageNumber, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { OrganizationDocument } from './organization-document.js'
import {
  NEW_TEAM,
  type TeamDetails,
  TeamFields,
  TeamRights,
  teamDetailsAsSent,
  teamDetailsOf,
} from './team-fields.js'

const PATH = '/org/{org}/teams'
const LISTED = 50

/** Returns the path of a team's page. */
export function teamPathOf({ organization, team }: Pick<Grants['team'], 'organization' | 'team'>) {
  return `${organizationPath({ organization })}/teams/${encodeURIComponent(team.name)}`
}

const list = definePage<'organization'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'organization', role: 'member' },
  async handle(context, { request, grant }) {
    const { organization, role, user } = grant
    const page = { page: pageNumber(request), limit: LISTED }
    const search = { organizationId: organization.id }
    const { entries, total } = await listTeams(context.db, search, page)
    const own = await teamIdsOf(context.db, organization.id, user?.id ?? 0)
    const address = `${context.settings.http.basePath}${organizationPath(grant)}/teams`
    return htmlReply(
      request,
      <OrganizationDocument context={context} grant={grant} tab="teams" title="Teams">
        <ul class="list">
          {entries.map((team) => (
            <TeamLine address={address} team={team} isOpen={role === 'owner' || own.has(team.id)} />
          ))}
        </ul>
        <Pager address={address} page={page} total={total} />
        {role === 'owner' && (
          <p>
            <a href={`${address}/new`}>Create a team</a>
          </p>
        )}
      </OrganizationDocument>,
    )
  },
})

interface TeamLineProps {
  readonly address: string
  readonly team: Team
  /** True if the visitor is permitted to open the team's page. */
  readonly isOpen: boolean
}

function TeamLine({ address, team, isOpen }: TeamLineProps): JSX.Element {
  return (
    <li>
      <div class="grow">
        {isOpen ? (
          <a class="strong" href={`${address}/${encodeURIComponent(team.name)}`}>
            {team.name}
          </a>
        ) : (
          <strong>{team.name}</strong>
        )}{' '}
        <TeamRights team={team} />
        <p class="quiet">
          <Shown text={team.description} />
        </p>
      </div>
    </li>
  )
}

interface NewTeamProps {
  readonly context: Context
  readonly grant: Grants['organization']
  readonly team: TeamDetails
  readonly error?: string
}

function NewTeam({ context, grant, team, error }: NewTeamProps): JSX.Element {
  const action = `${context.settings.http.basePath}${organizationPath(grant)}/teams/new`
  return (
    <OrganizationDocument
      context={context}
      grant={grant}
      error={error}
      tab="teams"
      title="New team"
    >
      <form class="form" method="post" action={action}>
        <TeamFields team={team} />
        <button type="submit">Create</button>
      </form>
    </OrganizationDocument>
  )
}

const showNew = definePage<'organization'>({
  method: 'GET',
  path: `${PATH}/new`,
  access: { kind: 'organization', role: 'owner' },
  handle: (context, { request, grant }) =>
    htmlReply(request, <NewTeam context={context} grant={grant} team={NEW_TEAM} />),
})

const create = definePage<'organization'>({
  method: 'POST',
  path: `${PATH}/new`,
  access: { kind: 'organization', role: 'owner' },
  async handle(context, { request, grant }) {
    const { organization } = grant
    const form = await readForm(request)
    const make = async () => {
      const input = { ...teamDetailsOf(form), organizationId: organization.id, units: {} }
      const team = await makeTeam(context.db, input)
      return redirectTo(context, teamPathOf({ organization, team }))
    }
    return withFormErrors(make, ({ message, status }) => {
      const team = teamDetailsAsSent(form)
      return htmlReply(
        request,
        <NewTeam context={context} grant={grant} team={team} error={message} />,
        {
          status,
        },
      )
    })
  },
})

export const TEAMS_PAGES = [list, showNew, create]
