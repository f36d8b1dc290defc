/** Pages of an owner's packages, and of one package with its versions. */

import { notFound } from '../../../conf/failures.js'
import { PACKAGE_FORMATS } from '../../../conf/package.js'
import { listOwnerPackages } from '../../../sql/packages/owner-packages.js'
import { dayOf, listDailyDownloads } from '../../../sql/packages/package-downloads.js'
import { listOwnerVersions } from '../../../sql/packages/package-lists.js'
import { findPackage } from '../../../sql/packages/packages.js'
import { roleIn } from '../../auth/authorize-accounts.js'
import { Shown } from '../../rendering/visible-text.js'
import { htmlReply } from '../kit/html.js'
import { Icon } from '../kit/icon.js'
import { definePage, pageNumber } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { Ago } from '../kit/times.js'
import { CHART_DAYS, DownloadChart } from './download-chart.js'
import { FilterForm, filterOf, PackageList, pathOf, queryOf } from './package-list.js'
import { areHidden, PackagesDocument, packagesUrl } from './packages-document.js'

const LISTED = 30
const ACCESS = { kind: 'packages', mode: 'read' } as const

const list = definePage<'packages'>({
  method: 'GET',
  path: '/{owner}/-/packages',
  access: ACCESS,
  async handle(context, { request, grant }) {
    const page = { page: pageNumber(request), limit: LISTED }
    const filter = filterOf(request)
    const search = { ownerId: grant.owner.id, ...filter }
    const { entries, total } = await listOwnerPackages(context.db, search, page)
    const role = await roleIn(context.db, grant.who, grant.owner)
    const address = packagesUrl(context, grant)
    const { owner, user } = grant
    const isOwner = role === 'owner' || user?.id === owner.id || user?.isAdmin
    return htmlReply(
      request,
      <PackagesDocument context={context} grant={grant} role={role} title="Packages">
        {isOwner && (
          <p>
            <a href={`${address}/settings`}>Package settings</a>
          </p>
        )}
        <FilterForm address={address} filter={filter} />
        <PackageList packagesUrl={address} packages={entries} filter={filter} />
        <Pager address={address} query={queryOf(filter)} page={page} total={total} />
      </PackagesDocument>,
    )
  },
})

const one = definePage<'packages'>({
  method: 'GET',
  path: '/{owner}/-/packages/{type}/{name}',
  access: ACCESS,
  async handle(context, { request, grant, params }) {
    const { db } = context
    const format = PACKAGE_FORMATS.find((known) => known === params['type'])
    const namespace = { ownerId: grant.owner.id, format: format ?? '' }
    const found = format && (await findPackage(db, namespace, params['name'] ?? ''))
    if (format === undefined || found === undefined) throw notFound()
    const { id, name } = found
    const page = { page: pageNumber(request), limit: LISTED }
    const { entries, total } = await listOwnerVersions(
      db,
      { ...namespace, packageName: name },
      page,
    )
    const today = dayOf(Date.now())
    const daily = await listDailyDownloads(db, id, today - CHART_DAYS + 1)
    const role = await roleIn(db, grant.who, grant.owner)
    const address = `${packagesUrl(context, grant)}/${pathOf(format, name)}`
    return htmlReply(
      request,
      <PackagesDocument context={context} grant={grant} role={role} title={name}>
        <h2>
          <Icon name="package" /> <Shown text={name} /> <span class="label">{format}</span>
          {(await areHidden(context, grant)) && <span class="label">private</span>}
        </h2>
        <DownloadChart today={today} daily={daily} />
        <h3>Versions</h3>
        <ul class="list">
          {entries.map(({ version, createdAtMs }) => (
            <li>
              <div class="grow">
                <a class="strong" href={`${address}/${encodeURIComponent(version)}`}>
                  <Shown text={version} />
                </a>
              </div>
              <Ago atMs={createdAtMs} />
            </li>
          ))}
        </ul>
        <Pager address={address} page={page} total={total} />
      </PackagesDocument>,
    )
  },
})

export const PACKAGES_PAGES = [list, one]
