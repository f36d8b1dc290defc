/** Page of a package version, and downloads of its files. */

import type { Failure } from '../../../conf/failures.js'
import { notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { type FullVersion, PACKAGE_FORMATS, type PackageFormat } from '../../../conf/package.js'
import { formatOf } from '../../../registry/formats.js'
import { removeVersion } from '../../../registry/remove.js'
import { servePackageFile } from '../../../registry/serve.js'
import { unlinkPackage } from '../../../sql/packages/package-links.js'
import { findNewestVersion } from '../../../sql/packages/package-lists.js'
import { findVersion } from '../../../sql/packages/package-versions.js'
import { findPackage } from '../../../sql/packages/packages.js'
import { findReadme } from '../../../sql/packages/readmes.js'
import { describingMetadata } from '../../../sql/packages/version-metadata.js'
import { accessToPackages, atLeast } from '../../../sql/repositories/access.js'
import { findRepositoryById } from '../../../sql/repositories/repositories.js'
import { linkToRepository } from '../../actions/packages/link-package.js'
import { removeAndNotify } from '../../actions/packages/package-events.js'
import type { Grants } from '../../auth/authorize.js'
import { roleIn } from '../../auth/authorize-accounts.js'
import { accessToLinked } from '../../auth/authorize-repository.js'
import { readId } from '../../auth/refusals.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { refuseUnconfirmed } from '../kit/confirmation.js'
import { htmlReply } from '../kit/html.js'
import { Icon } from '../kit/icon.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { Ago } from '../kit/times.js'
import { pathOf } from './package-list.js'
import { areHidden, PackagesDocument, packagesUrl } from './packages-document.js'
import { AboutPackage, Dependencies, FileList, Installation, Readme } from './version-details.js'
import { VersionForms } from './version-forms.js'

const PATH = '/{owner}/-/packages/{type}/{name}/{version}'
const READ = { kind: 'packages', mode: 'read' } as const
const WRITE = { kind: 'packages', mode: 'write' } as const

type PackageCall = Pick<Call<'packages'>, 'request' | 'grant' | 'params'>

interface PlacedVersion {
  readonly format: PackageFormat
  readonly packageName: string
  readonly version: FullVersion
}

/** Returns the version that the path names. Throws `not_found`. */
async function versionOf(
  { db }: Context,
  { grant, params }: Pick<PackageCall, 'grant' | 'params'>,
): Promise<PlacedVersion> {
  const format = PACKAGE_FORMATS.find((known) => known === params['type'])
  if (format === undefined) throw notFound()
  const found = await findPackage(db, { ownerId: grant.owner.id, format }, params['name'] ?? '')
  const version = found && (await findVersion(db, found.id, params['version'] ?? ''))
  if (found === undefined || version === undefined) throw notFound()
  return { format, packageName: found.name, version }
}

const show = definePage<'packages'>({
  method: 'GET',
  path: PATH,
  access: READ,
  handle: (context, call) => answer(context, call),
})

async function answer(context: Context, call: PackageCall, failure?: Failure): Promise<Reply> {
  const { request, grant } = call
  const { format, packageName, version } = await versionOf(context, call)
  const { owner, user } = grant
  const registryUrl = `${context.settings.http.baseUrl}/api/packages/${owner.name}/${format}`
  const { describe, install } = formatOf(format)
  const about = describe(await describingMetadata(context.db, version))
  const { files } = version
  const readme = await drawReadme(context, { owner, versionId: version.id })
  const steps = install({ registryUrl, packageName, version: version.version, files })
  const linked = await linkedRepository(context, grant, { format, packageName })
  const isWriter = atLeast(await accessToPackages(context.db, user, owner), 'write')
  const role = await roleIn(context.db, grant.who, owner)
  const ofPackage = `${packagesUrl(context, grant)}/${pathOf(format, packageName)}`
  const address = `${ofPackage}/${encodeURIComponent(version.version)}`
  const title = `${packageName} ${version.version}`
  return htmlReply(
    request,
    <PackagesDocument context={context} grant={grant} role={role} title={title}>
      <ErrorMessage error={failure?.message} />
      <h2>
        <Icon name="package" /> <Shown text={title} /> <span class="label">{format}</span>
        {(await areHidden(context, grant)) && <span class="label">private</span>}
      </h2>
      <p class="quiet">
        Published <Ago atMs={version.createdAtMs} />
        {linked.repository !== undefined && (
          <>
            {' from '}
            <a href={repositoryUrl(context, { repository: linked.repository })}>
              {linked.repository.name}
            </a>
          </>
        )}
        {' · '}
        <a href={ofPackage}>all versions</a>
      </p>
      <AboutPackage about={about} />
      <Installation steps={steps} />
      <Dependencies about={about} />
      <FileList address={address} files={files} />
      {readme !== undefined && <Readme {...readme} />}
      {isWriter && (
        <VersionForms
          address={address}
          packageName={packageName}
          version={version.version}
          isLinked={linked.isLinked}
        />
      )}
    </PackagesDocument>,
    { status: failure?.status ?? 200 },
  )
}

/** Renders the README of a version; undefined if there is none. */
async function drawReadme(
  { db, renderings }: Context,
  { owner, versionId }: { readonly owner: Grants['packages']['owner']; readonly versionId: number },
) {
  const text = await findReadme(db, versionId)
  if (text === undefined) return undefined
  const from = { address: '', place: { kind: 'package' }, headingsBelow: 3 } as const
  return { text, drawing: await renderings.markdown({ text, from }, owner.id) }
}

/** Returns the linked repository; undefined if the visitor cannot read it. */
async function linkedRepository(
  { db }: Context,
  { owner, who }: Grants['packages'],
  place: { readonly format: PackageFormat; readonly packageName: string },
) {
  const newest = await findNewestVersion(db, { ownerId: owner.id, ...place })
  const id = newest?.repositoryId
  const found = id === undefined ? undefined : await findRepositoryById(db, id)
  const isVisible = found !== undefined && (await accessToLinked(db, who, found)).any !== 'none'
  return { isLinked: id !== undefined, repository: isVisible ? found : undefined }
}

const file = definePage<'packages'>({
  method: 'GET',
  path: `${PATH}/files/{id}`,
  access: READ,
  async handle(context, call) {
    const { request, params } = call
    const { version } = await versionOf(context, call)
    const id = readId(params['id'] ?? '')
    const found = version.files.find((one) => one.id === id)
    if (found === undefined) throw notFound()
    return await servePackageFile(context.registry, { file: found, request, options: {} })
  },
})

/** Returns the page of a form that changes the package of a version. */
function changePage(
  action: string,
  change: (context: Context, call: PackageCall, form: URLSearchParams) => Promise<Reply>,
) {
  return definePage<'packages'>({
    method: 'POST',
    path: `${PATH}/-/${action}`,
    access: WRITE,
    async handle(context, call) {
      const form = await readForm(call.request)
      return withFormErrors(
        () => change(context, call, form),
        (failure) => answer(context, call, failure),
      )
    },
  })
}

const link = changePage('link', async (context, call, form) => {
  const { format, packageName } = await versionOf(context, call)
  const namespace = { ownerId: call.grant.owner.id, format }
  const repositoryName = fieldOf(form, 'repository')
  await linkToRepository(context, call.grant, { namespace, packageName, repositoryName })
  return backTo(context, call)
})

const unlink = changePage('unlink', async (context, call) => {
  const { format, packageName } = await versionOf(context, call)
  await unlinkPackage(context.db, { ownerId: call.grant.owner.id, format }, packageName)
  return backTo(context, call)
})

const remove = changePage('delete', async (context, call, form) => {
  const { format, packageName, version: found } = await versionOf(context, call)
  const { version } = found
  refuseUnconfirmed(form, `${packageName} ${version}`)
  const namespace = { ownerId: call.grant.owner.id, format }
  await removeAndNotify(context, call.grant, {
    search: { ...namespace, packageName, version },
    remove: () => removeVersion(context.registry, namespace, { packageName, version }),
  })
  return redirectTo(context, `/${call.grant.owner.name}/-/packages`)
})

function backTo(context: Context, { grant, params }: PackageCall): Reply {
  const path = pathOf(params['type'] ?? '', params['name'] ?? '', params['version'] ?? '')
  return redirectTo(context, `/${grant.owner.name}/-/packages/${path}`)
}

export const PACKAGE_VERSION_PAGES = [show, file, link, unlink, remove]
