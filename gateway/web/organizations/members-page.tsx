/** Members of an organization: list, removal, and visibility of the own membership. */

import type { JSX } from 'preact/jsx-runtime'
import { notFound } from '../../../conf/failures.js'
import type { Request } from '../../../conf/http.js'
import { isPublicMember, listMembers } from '../../../sql/organizations/organization-members.js'
import { organizationRole } from '../../../sql/organizations/organizations.js'
import { removeMember } from '../../../sql/organizations/teams.js'
import {
  showMembership,
  takeOutOfOrganization,
  visibleMembers,
} from '../../actions/organizations/team-contents.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { namedErrorMessage } from '../accounts/settings-document.js'
import { htmlReply } from '../kit/html.js'
import { organizationPath } from '../kit/links.js'
import {
  definePage,
  fieldOf,
  pageNumber,
  readForm,
  redirectTo,
  withFormErrors,
} from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { PeopleList } from '../kit/people-list.js'
import { OrganizationDocument } from './organization-document.js'

const PATH = '/org/{org}/members'
const LISTED = 50

type Grant = Grants['organization']

interface Problems {
  readonly error?: string
  readonly status?: number
}

async function answer(
  context: Context,
  { request, grant }: { readonly request: Request; readonly grant: Grant },
  { error, status = 200 }: Problems = {},
) {
  const { db, settings } = context
  const { organization, role, user } = grant
  const page = { page: pageNumber(request), limit: LISTED }
  const { entries, total } = await listMembers(db, visibleMembers(grant), page)
  // A site administrator has the role owner everywhere, but is a member only through a team.
  const isMember = user && (await organizationRole(db, organization.id, user.id)) !== 'none'
  const isShown = user && (await isPublicMember(db, organization.id, user.id))
  const base = settings.http.basePath
  const address = `${base}${organizationPath(grant)}/members`
  const removal = role === 'owner' ? `${address}/remove` : undefined
  return htmlReply(
    request,
    <OrganizationDocument
      context={context}
      grant={grant}
      error={error}
      tab="members"
      title="Members"
    >
      <PeopleList base={base} people={entries} removal={removal} />
      <Pager address={address} page={page} total={total} />
      {isMember && <OwnMembership address={address} isShown={isShown === true} />}
      {role === 'owner' && (
        <p class="quiet">
          Users become members when they are added to a team:{' '}
          <a href={`${base}${organizationPath(grant)}/teams`}>choose a team</a>.
        </p>
      )}
    </OrganizationDocument>,
    { status },
  )
}

interface OwnMembershipProps {
  readonly address: string
  readonly isShown: boolean
}

function OwnMembership({ address, isShown }: OwnMembershipProps): JSX.Element {
  return (
    <section>
      <h3>You</h3>
      <p>{`Your membership is visible to ${isShown ? 'everyone' : 'members only'}.`}</p>
      <form method="post" action={`${address}/show`}>
        <input type="hidden" name="public" value={isShown ? 'no' : 'yes'} />
        <button type="submit">{isShown ? 'Hide membership' : 'Show membership to everyone'}</button>
      </form>
      <form method="post" action={`${address}/leave`}>
        <button type="submit" class="danger">
          Leave the organization
        </button>
      </form>
    </section>
  )
}

const list = definePage<'organization'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'organization', role: 'visible' },
  handle: (context, call) => answer(context, call),
})

const remove = definePage<'organization'>({
  method: 'POST',
  path: `${PATH}/remove`,
  access: { kind: 'organization', role: 'owner' },
  async handle(context, call) {
    const name = fieldOf(await readForm(call.request), 'name')
    const take = async () => {
      await takeOutOfOrganization(context.db, call.grant, name)
      return redirectTo(context, `${organizationPath(call.grant)}/members`)
    }
    return withFormErrors(take, (failure) =>
      answer(context, call, { error: namedErrorMessage(failure), status: failure.status }),
    )
  },
})

const leave = definePage<'organization'>({
  method: 'POST',
  path: `${PATH}/leave`,
  access: { kind: 'organization', role: 'member' },
  handle(context, call) {
    const { user, organization } = call.grant
    const go = async () => {
      const place = { organizationId: organization.id }
      if (user === undefined || !(await removeMember(context.db, user.id, place))) throw notFound()
      return redirectTo(context, '/user/settings/organizations')
    }
    return withFormErrors(go, ({ message, status }) =>
      answer(context, call, { error: message, status }),
    )
  },
})

const showOwn = definePage<'organization'>({
  method: 'POST',
  path: `${PATH}/show`,
  access: { kind: 'organization', role: 'member' },
  async handle(context, { request, grant }) {
    const isPublic = fieldOf(await readForm(request), 'public') === 'yes'
    await showMembership(context.db, grant, isPublic)
    return redirectTo(context, `${organizationPath(grant)}/members`)
  },
})

export const MEMBERS_PAGES = [list, remove, leave, showOwn]
