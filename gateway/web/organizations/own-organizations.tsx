/** Account settings, Organizations: the organizations that the user is a member of. */

import { listOrganizations } from '../../../sql/organizations/organizations.js'
import { viewerOf } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import { AccountDocument } from '../accounts/account-document.js'
import { htmlReply } from '../kit/html.js'
import { definePage, pageNumber } from '../kit/page.js'
import { Pager } from '../kit/pager.js'

const PATH = '/user/settings/organizations'
const LISTED = 50

export const OWN_ORGANIZATIONS = definePage<'signed-in'>({
  method: 'GET',
  path: PATH,
  access: { kind: 'signed-in' },
  async handle(context, { request, grant: { who, user } }) {
    const page = { page: pageNumber(request), limit: LISTED }
    const search = { viewer: viewerOf(who), memberId: user.id }
    const { entries, total } = await listOrganizations(context.db, search, page)
    const { basePath } = context.settings.http
    return htmlReply(
      request,
      <AccountDocument context={context} user={user} tab="organizations">
        <section>
          <h2>Organizations</h2>
          {entries.length === 0 && (
            <p class="empty">You are not a member of an organization yet.</p>
          )}
          <ul class="list">
            {entries.map(({ name, fullName, visibility }) => (
              <li>
                <div class="grow">
                  <a class="strong" href={`${basePath}/${name}`}>
                    {name}
                  </a>
                  {visibility !== 'public' && <span class="label">{visibility}</span>}
                  {fullName !== '' && (
                    <p class="quiet">
                      <Shown text={fullName} />
                    </p>
                  )}
                </div>
              </li>
            ))}
          </ul>
          <Pager address={basePath + PATH} page={page} total={total} />
          <p>
            <a href={`${basePath}/org/create`}>Create an organization</a>
          </p>
        </section>
      </AccountDocument>,
    )
  },
})
