/** Pages of an owner's packages and of a package version: installation and files. */

import type { JSX } from 'preact/jsx-runtime'
import { notFound } from '../../../conf/failures.js'
import { type FullVersion, PACKAGE_FORMATS, type PackageFormat } from '../../../conf/package.js'
import { formatOf } from '../../../registry/formats.js'
import { type ListedVersion, listOwnerVersions } from '../../../sql/packages/package-lists.js'
import { findVersion } from '../../../sql/packages/package-versions.js'
import { findPackage } from '../../../sql/packages/packages.js'
import type { Grants } from '../../auth/authorize.js'
import { roleIn } from '../../auth/authorize-accounts.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { sizeOf } from '../code/file-view.js'
import { Document } from '../kit/document.js'
import { htmlReply } from '../kit/html.js'
import { Icon } from '../kit/icon.js'
import { definePage, pageNumber } from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { Ago } from '../kit/times.js'
import { OwnerTabs } from '../repositories/owner-tabs.js'

const LISTED = 30
const ACCESS = { kind: 'packages', mode: 'read' } as const

const list = definePage<'packages'>({
  method: 'GET',
  path: '/{owner}/-/packages',
  access: ACCESS,
  async handle(context, { request, grant: { owner, user, who } }) {
    const role = await roleIn(context.db, who, owner)
    const page = { page: pageNumber(request), limit: LISTED }
    const { entries, total } = await listOwnerVersions(context.db, { ownerId: owner.id }, page)
    const address = `${context.settings.http.baseUrl}/${owner.name}/-/packages`
    return htmlReply(
      request,
      <Document context={context} title={`Packages · ${owner.name}`} user={user}>
        <OwnerTabs context={context} owner={owner} role={role} tab="packages" />
        {(role === 'owner' || user?.id === owner.id || user?.isAdmin) && (
          <p>
            <a href={`${address}/settings`}>Package settings</a>
          </p>
        )}
        <VersionList address={address} versions={entries} />
        <Pager address={address} page={page} total={total} />
      </Document>,
    )
  },
})

interface VersionListProps {
  readonly address: string
  readonly versions: readonly ListedVersion[]
}

function VersionList({ address, versions }: VersionListProps): JSX.Element {
  if (versions.length === 0) return <p class="empty">There are no packages yet.</p>
  return (
    <ul class="list">
      {versions.map(({ format, packageName, version, createdAtMs }) => (
        <li>
          <Icon name="package" />
          <div class="grow">
            <a
              class="strong"
              href={`${address}/${[format, packageName, version].map(encodeURIComponent).join('/')}`}
            >
              <Shown text={`${packageName} ${version}`} />
            </a>
            <span class="label">{format}</span>
          </div>
          <Ago atMs={createdAtMs} />
        </li>
      ))}
    </ul>
  )
}

const one = definePage<'packages'>({
  method: 'GET',
  path: '/{owner}/-/packages/{type}/{name}/{version}',
  access: ACCESS,
  async handle(context, { request, grant, params }) {
    const format = PACKAGE_FORMATS.find((known) => known === params['type'])
    if (format === undefined) throw notFound()
    const store = { ownerId: grant.owner.id, format }
    const found = await findPackage(context.db, store, params['name'] ?? '')
    const version = found && (await findVersion(context.db, found.id, params['version'] ?? ''))
    if (found === undefined || version === undefined) throw notFound()
    const { name } = found
    const role = await roleIn(context.db, grant.who, grant.owner)
    return htmlReply(
      request,
      <Document context={context} title={`${name} ${version.version}`} user={grant.user}>
        <OwnerTabs context={context} owner={grant.owner} role={role} tab="packages" />
        <Version
          context={context}
          grant={grant}
          format={format}
          version={version}
          packageName={name}
        />
      </Document>,
    )
  },
})

interface VersionProps {
  readonly context: Context
  readonly grant: Grants['packages']
  readonly format: PackageFormat
  readonly packageName: string
  readonly version: FullVersion
}

function Version({ context, grant, format, packageName, version }: VersionProps): JSX.Element {
  const { files } = version
  const registryUrl = `${context.settings.http.baseUrl}/api/packages/${grant.owner.name}/${format}`
  const installed = { registryUrl, packageName, version: version.version, files }
  const instructions = formatOf(format).install(installed)
  return (
    <section>
      <h2>
        <Icon name="package" /> <Shown text={`${packageName} ${version.version}`} />{' '}
        <span class="label">{format}</span>
      </h2>
      <p class="quiet">
        Published <Ago atMs={version.createdAtMs} />
      </p>
      <h3>Installation</h3>
      {instructions.map(({ where, text }) => (
        <>
          <p>{where}</p>
          <pre tabindex={0}>
            <code>
              <Shown text={text} />
            </code>
          </pre>
        </>
      ))}
      <h3>Files</h3>
      <ul class="list">
        {files.map(({ name, bytes, digests, downloads }) => (
          <li>
            <div class="grow">
              <strong>
                <Shown text={name} />
              </strong>
              <p class="quiet">{`${sizeOf(bytes)} · ${downloads} downloads`}</p>
              <p class="quiet">
                SHA-256 <code>{digests.sha256}</code>
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

export const PACKAGES_PAGES = [list, one]
