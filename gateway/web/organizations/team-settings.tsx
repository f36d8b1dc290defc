/** Settings of a team: details and deletion. */

import type { JSX } from 'preact/jsx-runtime'
import type { Request } from '../../../conf/http.js'
import type { Team, TeamPatch } from '../../../sql/organizations/teams.js'
import { isAlikeInEachUnit, teamPermission } from '../../../sql/repositories/access.js'
import { changeTeam, isOfOwners, removeTeam } from '../../actions/organizations/change-team.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { Confirmation, refuseUnconfirmed } from '../kit/confirmation.js'
import { htmlReply } from '../kit/html.js'
import { organizationPath } from '../kit/links.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { OrganizationDocument } from './organization-document.js'
import {
  type TeamDetails,
  TeamFields,
  TeamRights,
  teamDetailsAsSent,
  teamDetailsOf,
} from './team-fields.js'
import { teamPathOf } from './teams-page.js'

const PATH = '/org/{org}/teams/{team}/settings'
const ACCESS = { kind: 'team', role: 'owner', isByName: true } as const

interface Shows {
  readonly grant: Grants['team']
  readonly details?: TeamDetails
  readonly error?: string
}

function TeamSettings({
  context,
  grant,
  details,
  error,
}: Shows & { readonly context: Context }): JSX.Element {
  const { team } = grant
  const address = `${context.settings.http.basePath}${teamPathOf(grant)}/settings`
  return (
    <OrganizationDocument
      context={context}
      grant={grant}
      error={error}
      tab="teams"
      title={`Settings of ${team.name}`}
    >
      <form class="form" method="post" action={address}>
        <TeamFields team={details ?? { ...team, permission: teamPermission(team) }} />
        {!isAlikeInEachUnit(team) && (
          <p class="quiet">
            The units of this team have permissions of their own: <TeamRights team={team} />. They
            are kept unless you choose another permission.
          </p>
        )}
        <button type="submit">Save</button>
      </form>
      {!isOfOwners(team) && (
        <section class="danger-zone">
          <h3>Delete</h3>
          <p>Members who are in no other team are removed from the organization.</p>
          <form method="post" action={`${address}/delete`}>
            <Confirmation id="confirm" name={team.name} />
            <button type="submit" class="danger">
              Delete this team
            </button>
          </form>
        </section>
      )}
    </OrganizationDocument>
  )
}

function answer(
  context: Context,
  request: Request,
  { status = 200, ...rest }: Shows & { readonly status?: number },
) {
  return htmlReply(request, <TeamSettings context={context} {...rest} />, { status })
}

const show = definePage<'team'>({
  method: 'GET',
  path: PATH,
  access: ACCESS,
  handle: (context, { request, grant }) => answer(context, request, { grant }),
})

const save = definePage<'team'>({
  method: 'POST',
  path: PATH,
  access: ACCESS,
  async handle(context, { request, grant }) {
    const { organization, team } = grant
    const form = await readForm(request)
    const change = async () => {
      const patch = isOfOwners(team)
        ? { description: fieldOf(form, 'description') }
        : patchOf(team, teamDetailsOf(form))
      const changed = await changeTeam(context.db, team, patch)
      return redirectTo(context, teamPathOf({ organization, team: changed }))
    }
    return withFormErrors(change, ({ message, status }) => {
      const { permission } = isOfOwners(team) ? team : teamDetailsAsSent(form)
      const details = { ...teamDetailsAsSent(form), permission }
      return answer(context, request, { grant, details, error: message, status })
    })
  },
})

/** Resets the permissions per unit if the team's permission changes. */
function patchOf(team: Team, { permission, ...details }: TeamDetails): TeamPatch {
  return permission === teamPermission(team) ? details : { ...details, permission, units: {} }
}

const remove = definePage<'team'>({
  method: 'POST',
  path: `${PATH}/delete`,
  access: ACCESS,
  async handle(context, { request, grant }) {
    const form = await readForm(request)
    const end = async () => {
      refuseUnconfirmed(form, grant.team.name)
      await removeTeam(context.db, grant.team)
      return redirectTo(context, `${organizationPath(grant)}/teams`)
    }
    return withFormErrors(end, ({ message, status }) =>
      answer(context, request, { grant, error: message, status }),
    )
  },
})

export const TEAM_SETTINGS_PAGES = [show, save, remove]
