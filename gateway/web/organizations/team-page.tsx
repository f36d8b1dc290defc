/** Page of a team: members and repositories. */

import type { JSX } from 'preact/jsx-runtime'
import type { Failure } from '../../../conf/failures.js'
import type { Request } from '../../../conf/http.js'
import { REPOSITORY_CHARACTERS_MAX } from '../../../conf/names.js'
import type { Database } from '../../../sql/database/database.js'
import { listMembers } from '../../../sql/organizations/organization-members.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { searchRepositories } from '../../../sql/repositories/repository-lists.js'
import {
  giveToTeam,
  takeFromTeam,
  takeIntoTeam,
  takeOutOfTeam,
} from '../../actions/organizations/team-contents.js'
import type { Grants } from '../../auth/authorize.js'
import { viewerOf } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { namedErrorMessage } from '../accounts/settings-document.js'
import { htmlReply } from '../kit/html.js'
import {
  definePage,
  fieldOf,
  pageNumber,
  readForm,
  redirectTo,
  withFormErrors,
} from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { PeopleList, RemovalForm } from '../kit/people-list.js'
import { TextField } from '../kit/text-field.js'
import { OrganizationDocument } from './organization-document.js'
import { TeamRights } from './team-fields.js'
import { teamPathOf } from './teams-page.js'

const PATH = '/org/{org}/teams/{team}'
const LISTED = 50

type Grant = Grants['team']

interface Problems {
  readonly error?: string
  readonly status?: number
}

async function answer(
  context: Context,
  { request, grant }: { readonly request: Request; readonly grant: Grant },
  { error, status = 200 }: Problems = {},
) {
  const { organization, team, who, role } = grant
  const page = { page: pageNumber(request), limit: LISTED }
  const place = { organizationId: organization.id, teamId: team.id }
  const members = await listMembers(context.db, place, page)
  const search = { viewer: viewerOf(who), teamId: team.id }
  const repositories = await searchRepositories(context.db, search, page)
  const base = context.settings.http.basePath
  const address = base + teamPathOf(grant)
  const isOwner = role === 'owner'
  return htmlReply(
    request,
    <OrganizationDocument
      context={context}
      grant={grant}
      error={error}
      tab="teams"
      title={team.name}
    >
      <p class="quiet">
        <TeamRights team={team} /> <Shown text={team.description} />
      </p>
      {isOwner && (
        <p>
          <a href={`${address}/settings`}>Settings of the team</a>
        </p>
      )}
      <h3>Members</h3>
      <PeopleList
        base={base}
        people={members.entries}
        removal={isOwner ? `${address}/members/remove` : undefined}
      />
      {isOwner && <AddForm address={`${address}/members`} label="Add a user" id="member" />}
      <h3>Repositories</h3>
      <TeamRepositories
        base={base}
        address={address}
        grant={grant}
        repositories={repositories.entries}
      />
      <Pager address={address} page={page} total={Math.max(members.total, repositories.total)} />
    </OrganizationDocument>,
    { status },
  )
}

interface TeamRepositoriesProps {
  readonly base: string
  readonly address: string
  readonly grant: Grant
  readonly repositories: readonly Repository[]
}

function TeamRepositories(props: TeamRepositoriesProps): JSX.Element {
  const { base, address, grant, repositories } = props
  const hasAll = grant.team.includesAll || grant.team.permission === 'owner'
  const isChanged = grant.role === 'owner' && !hasAll
  return (
    <>
      {hasAll && <p class="quiet">The team has access to all repositories of the organization.</p>}
      {repositories.length === 0 && <p class="empty">There are none yet.</p>}
      <ul class="list">
        {repositories.map(({ owner, name }) => (
          <li>
            <div class="grow">
              <a class="strong" href={`${base}/${owner.name}/${name}`}>
                {name}
              </a>
            </div>
            {isChanged && <RemovalForm address={`${address}/repositories/remove`} name={name} />}
          </li>
        ))}
      </ul>
      {isChanged && (
        <AddForm address={`${address}/repositories`} label="Add a repository" id="repository" />
      )}
    </>
  )
}

interface AddFormProps {
  readonly address: string
  readonly label: string
  readonly id: string
}

function AddForm({ address, label, id }: AddFormProps): JSX.Element {
  return (
    <form class="form" method="post" action={address}>
      <TextField
        label={label}
        id={id}
        name="name"
        isRequired={true}
        charactersMax={REPOSITORY_CHARACTERS_MAX}
      />
      <button type="submit">Add</button>
    </form>
  )
}

const show = definePage<'team'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'team', role: 'member', isByName: true },
  handle: (context, call) => answer(context, call),
})

interface Change {
  /** Path below that of the team. */
  readonly path: string
  readonly change: (db: Database, grant: Grant, name: string) => Promise<void>
  readonly sentenceOf: (failure: Failure) => string
}

/** Defines a form target that names a user or repository; requires the role owner. */
function defineChange({ path, change, sentenceOf }: Change) {
  return definePage<'team'>({
    method: 'POST',
    path: `${PATH}/${path}`,
    access: { kind: 'team', role: 'owner', isByName: true },
    async handle(context, call) {
      const name = fieldOf(await readForm(call.request), 'name')
      const work = async () => {
        await change(context.db, call.grant, name)
        return redirectTo(context, teamPathOf(call.grant))
      }
      return withFormErrors(work, (failure) =>
        answer(context, call, { error: sentenceOf(failure), status: failure.status }),
      )
    },
  })
}

function sentenceOfRepository({ status, message }: Failure): string {
  return status === 404 ? 'The organization has no repository with this name.' : message
}

function ownName({ organization }: Grant, name: string) {
  return { owner: organization.name, name }
}

const CHANGES: readonly Change[] = [
  { path: 'members', change: takeIntoTeam, sentenceOf: namedErrorMessage },
  { path: 'members/remove', change: takeOutOfTeam, sentenceOf: namedErrorMessage },
  {
    path: 'repositories',
    change: (db, grant, name) => giveToTeam(db, grant, ownName(grant, name)),
    sentenceOf: sentenceOfRepository,
  },
  {
    path: 'repositories/remove',
    change: (db, grant, name) => takeFromTeam(db, grant, ownName(grant, name)),
    sentenceOf: sentenceOfRepository,
  },
]

export const TEAM_PAGES = [show, ...CHANGES.map(defineChange)]
