/** Packages of all formats over the API: list, read, delete, and link to a repository. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import { PACKAGE_FORMATS } from '../../../conf/package.js'
import { removePackage, removeVersion } from '../../../registry/remove.js'
import { unlinkPackage } from '../../../sql/packages/package-links.js'
import {
  findNewestVersion,
  listOwnerVersions,
  type VersionSearch,
} from '../../../sql/packages/package-lists.js'
import { findVersion } from '../../../sql/packages/package-versions.js'
import { findPackage, type PackageNamespace } from '../../../sql/packages/packages.js'
import { linkToRepository } from '../../actions/packages/link-package.js'
import { removeAndNotify } from '../../actions/packages/package-events.js'
import type { Grants } from '../../auth/authorize.js'
import {
  PACKAGE_FILE,
  PACKAGE_OBJECT,
  packageFileObject,
  packageObjects,
} from '../../objects/packages/package-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const READ = { kind: 'packages', mode: 'read', isSignedIn: true } as const
const WRITE = { kind: 'packages', mode: 'write', isSignedIn: true } as const

const OWNER_PARAMS = { owner: 'owner of the packages' }

const PACKAGE_PARAMS = {
  ...OWNER_PARAMS,
  type: 'type of the package',
  name: 'name of the package',
}

const VERSION_PARAMS = { ...PACKAGE_PARAMS, version: 'version of the package' }

const list = defineOperation({
  id: 'listPackages',
  method: 'GET',
  path: '/packages/{owner}',
  summary: 'Gets all packages of an owner',
  tags: ['package'],
  access: READ,
  scopes: ['read:package'],
  params: OWNER_PARAMS,
  query: Type.Object({
    ...PAGE_QUERY,
    type: Type.Optional(Type.String({ description: 'package type filter; all: any' })),
    q: Type.Optional(Type.String({ description: 'name filter' })),
  }),
  success: { status: 200, schema: Type.Array(PACKAGE_OBJECT) },
  failures: [404],
  async handle(context, { grant, query }) {
    const { owner } = grant
    const format = query.type === 'all' ? undefined : query.type || undefined
    const search = { ownerId: owner.id, format, text: query.q }
    const page = pageOf(query)
    const { entries, total } = await listOwnerVersions(context.db, search, page)
    const objects = await packageObjects(context, entries, { grant })
    const asked = { type: query.type, q: query.q }
    return pageReply(context, objects, {
      path: `/packages/${owner.name}`,
      query: asked,
      page,
      total,
    })
  },
})

const listVersions = defineOperation({
  id: 'listPackageVersions',
  method: 'GET',
  path: '/packages/{owner}/{type}/{name}',
  summary: 'Gets all versions of a package',
  tags: ['package'],
  access: READ,
  scopes: ['read:package'],
  params: PACKAGE_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(PACKAGE_OBJECT) },
  failures: [404],
  async handle(context, { grant, params, query }) {
    const { namespace, packageName } = placeOf(grant, params)
    const page = pageOf(query)
    const { entries, total } = await listOwnerVersions(
      context.db,
      { ...namespace, packageName },
      page,
    )
    const objects = await packageObjects(context, entries, { grant })
    const path = `/packages/${grant.owner.name}/${namespace.format}/${encodeURIComponent(packageName)}`
    return pageReply(context, objects, { path, page, total })
  },
})

const get = defineOperation({
  id: 'getPackage',
  method: 'GET',
  path: '/packages/{owner}/{type}/{name}/{version}',
  summary: 'Gets a package',
  tags: ['package'],
  access: READ,
  scopes: ['read:package'],
  params: VERSION_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: PACKAGE_OBJECT },
  failures: [404],
  handle(context, { grant, params }) {
    const { namespace, packageName, version } = placeOf(grant, params)
    return replyWithNewest(context, grant, { ...namespace, packageName, version })
  },
})

const getLatest = defineOperation({
  id: 'getLatestPackageVersion',
  method: 'GET',
  path: '/packages/{owner}/{type}/{name}/-/latest',
  summary: 'Gets the latest version of a package: the last that was uploaded',
  tags: ['package'],
  access: READ,
  scopes: ['read:package'],
  params: PACKAGE_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: PACKAGE_OBJECT },
  failures: [404],
  handle(context, { grant, params }) {
    const { namespace, packageName } = placeOf(grant, params)
    return replyWithNewest(context, grant, { ...namespace, packageName })
  },
})

async function replyWithNewest(context: Context, grant: Grants['packages'], search: VersionSearch) {
  const found = await findNewestVersion(context.db, search)
  if (found === undefined) throw noSuchPackage()
  const [object] = await packageObjects(context, [found], { grant })
  return jsonReply(200, object)
}

const listFiles = defineOperation({
  id: 'listPackageFiles',
  method: 'GET',
  path: '/packages/{owner}/{type}/{name}/{version}/files',
  summary: 'Gets all files of a package',
  tags: ['package'],
  access: READ,
  scopes: ['read:package'],
  params: VERSION_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(PACKAGE_FILE) },
  failures: [404],
  async handle(context, { grant, params }) {
    const { namespace, packageName, version } = placeOf(grant, params)
    const found = await findPackage(context.db, namespace, packageName)
    const full = found && (await findVersion(context.db, found.id, version))
    if (full === undefined) throw noSuchPackage()
    return jsonReply(200, full.files.map(packageFileObject))
  },
})

const removeOne = defineOperation({
  id: 'deletePackageVersion',
  method: 'DELETE',
  path: '/packages/{owner}/{type}/{name}/{version}',
  summary: 'Delete a version of a package',
  tags: ['package'],
  access: WRITE,
  scopes: ['write:package'],
  params: VERSION_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 409],
  async handle(context, { grant, params }) {
    const { namespace, packageName, version } = placeOf(grant, params)
    const isRemoved = await removeAndNotify(context, grant, {
      search: { ...namespace, packageName, version },
      remove: () => removeVersion(context.registry, namespace, { packageName, version }),
    })
    if (!isRemoved) throw noSuchPackage()
    return { status: 204 }
  },
})

const removeAll = defineOperation({
  id: 'deletePackage',
  method: 'DELETE',
  path: '/packages/{owner}/{type}/{name}',
  summary: 'Delete a package with all of its versions',
  tags: ['package'],
  access: WRITE,
  scopes: ['write:package'],
  params: PACKAGE_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 409],
  async handle(context, { grant, params }) {
    const { namespace, packageName } = placeOf(grant, params)
    const isRemoved = await removeAndNotify(context, grant, {
      search: { ...namespace, packageName },
      remove: () => removePackage(context.registry, namespace, packageName),
    })
    if (!isRemoved) throw noSuchPackage()
    return { status: 204 }
  },
})

const link = defineOperation({
  id: 'linkPackage',
  method: 'POST',
  path: '/packages/{owner}/{type}/{name}/-/link/{repo_name}',
  summary: 'Link a package to a repository',
  tags: ['package'],
  access: WRITE,
  scopes: ['write:package'],
  params: { ...PACKAGE_PARAMS, repo_name: 'name of the repository to link' },
  query: NO_QUERY,
  success: { status: 201, schema: null },
  failures: [400, 403, 404],
  async handle(context, { grant, params }) {
    const { namespace, packageName } = placeOf(grant, params)
    const repositoryName = params['repo_name'] ?? ''
    await linkToRepository(context, grant, { namespace, packageName, repositoryName })
    return { status: 201 }
  },
})

const unlink = defineOperation({
  id: 'unlinkPackage',
  method: 'POST',
  path: '/packages/{owner}/{type}/{name}/-/unlink',
  summary: 'Unlink a package from its repository',
  tags: ['package'],
  access: WRITE,
  scopes: ['write:package'],
  params: PACKAGE_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [400, 403, 404],
  async handle(context, { grant, params }) {
    const { namespace, packageName } = placeOf(grant, params)
    await unlinkPackage(context.db, namespace, packageName)
    return { status: 204 }
  },
})

interface Place {
  readonly namespace: PackageNamespace
  readonly packageName: string
  /** Empty if the path has no version. */
  readonly version: string
}

/** Returns the package that the path names. Throws `not_found` if the format is not supported. */
function placeOf(
  { owner }: Grants['packages'],
  { type, name = '', version = '' }: Readonly<Record<string, string>>,
): Place {
  const format = PACKAGE_FORMATS.find((known) => known === type)
  if (format === undefined) throw noSuchPackage()
  return { namespace: { ownerId: owner.id, format }, packageName: name, version }
}

function noSuchPackage(): Failure {
  return new Failure('not_found', 'package does not exist')
}

export const PACKAGE_OPERATIONS: readonly AnyOperation[] = [
  list,
  listVersions,
  get,
  getLatest,
  listFiles,
  removeOne,
  removeAll,
  link,
  unlink,
]
