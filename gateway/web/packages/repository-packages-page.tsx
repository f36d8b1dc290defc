/** Page of the packages that are linked to a repository. */

import { notFound } from '../../../conf/failures.js'
import { listOwnerPackages } from '../../../sql/packages/owner-packages.js'
import { accessToPackages } from '../../../sql/repositories/access.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, pageNumber } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { RepositoryDocument } from '../repositories/repository-document.js'
import { FilterForm, filterOf, PackageList, queryOf } from './package-list.js'
import { packagesUrl } from './packages-document.js'

const LISTED = 30

const list = definePage<'repository'>({
  method: 'GET',
  path: '/{owner}/{repo}/packages',
  access: { kind: 'repository', mode: 'read', unit: 'any' },
  async handle(context, { request, grant }) {
    if (!context.settings.packages.isEnabled) throw notFound()
    const { id, owner } = grant.repository
    const page = { page: pageNumber(request), limit: LISTED }
    const filter = filterOf(request)
    // Collaborators of a repository need not be able to read the packages of its owner.
    const isReader = (await accessToPackages(context.db, grant.user, owner)) !== 'none'
    const search = { ownerId: owner.id, repositoryId: id, ...filter }
    const { entries, total } = isReader
      ? await listOwnerPackages(context.db, search, page)
      : { entries: [], total: 0 }
    const address = `${repositoryUrl(context, grant)}/packages`
    return htmlReply(
      request,
      <RepositoryDocument context={context} grant={grant} tab="packages" title="Packages">
        <h2>Packages</h2>
        <FilterForm address={address} filter={filter} />
        <PackageList
          packagesUrl={packagesUrl(context, grant.repository)}
          packages={entries}
          filter={filter}
        />
        <Pager address={address} query={queryOf(filter)} page={page} total={total} />
      </RepositoryDocument>,
    )
  },
})

export const REPOSITORY_PACKAGES_PAGES = [list]
