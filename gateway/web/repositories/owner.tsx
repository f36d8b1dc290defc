/** Page of a user or an organization with its repositories. */

import { mayCreateRepositories } from '../../../sql/organizations/organizations.js'
import { searchRepositories } from '../../../sql/repositories/repository-lists.js'
import { roleIn } from '../../auth/authorize-accounts.js'
import { viewerOf } from '../../auth/refusals.js'
import { findVisibleOwner } from '../../auth/visible-owner.js'
import { Document } from '../kit/document.js'
import { htmlReply } from '../kit/html.js'
import { definePage, pageNumber } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { OwnerTabs } from './owner-tabs.js'
import { RepositoryList } from './repository-list.js'

const LISTED = 30

export const OWNER = definePage<'anyone'>({
  method: 'GET',
  path: '/{owner}',
  access: { kind: 'anyone' },
  async handle(context, { request, params, grant: { who } }) {
    const owner = await findVisibleOwner(context.db, who, params['owner'] ?? '')
    const page = { page: pageNumber(request), limit: LISTED }
    const search = { viewer: viewerOf(who), ownerId: owner.id, sort: 'updated' } as const
    const input = { ...search, order: 'desc' } as const
    const { entries, total } = await searchRepositories(context.db, input, page)
    const role = await roleIn(context.db, who, owner)
    const user = who.kind === 'user' ? who.user : undefined
    const mayCreate = user && (await mayCreateRepositories(context.db, owner.id, user.id))
    const { basePath } = context.settings.http
    return htmlReply(
      request,
      <Document context={context} title={owner.name} user={user}>
        <OwnerTabs context={context} owner={owner} role={role} tab="repositories" />
        <section>
          <h2 class="unseen">Repositories</h2>
          {mayCreate && (
            <p>
              <a href={`${basePath}/repo/create?owner=${owner.name}`}>Create a repository</a>
            </p>
          )}
          <RepositoryList base={basePath} repositories={entries} hasOwners={false} />
          <Pager address={`${basePath}/${owner.name}`} page={page} total={total} />
        </section>
      </Document>,
    )
  },
})
