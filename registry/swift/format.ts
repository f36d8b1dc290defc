/** The Swift format: the Swift Package Registry Service Specification, version 1. */

import { Failure } from '../../conf/failures.js'
import { decodePercent, type Reply, statusLine } from '../../conf/http.js'
import { after } from '../../conf/lib/awaitable.js'
import type { FullVersion, Package } from '../../conf/package.js'
import type { Format, FormatCall, FormatRoute } from '../format.js'
import type { PackageStore } from '../package-store.js'
import { checkAccept } from './accept.js'
import { describe } from './describe.js'
import { install } from './install.js'
import { linkHeaders } from './links.js'
import { findVariant, MANIFEST, variantsOf } from './manifests.js'
import {
  formatRelease,
  formatReleases,
  neighboursOf,
  releaseOf,
  releaseUrl,
  repositoriesOf,
} from './release.js'
import { normaliseRepositoryUrl, REPOSITORY_URL } from './repository-url.js'
import { sortVersions } from './versions.js'

const CONTENT_VERSION = ['Content-Version', '1'] as const
const JSON_TYPE = 'application/json'

const put: FormatRoute = {
  method: 'PUT',
  path: '/{scope}/{name}/{version}',
  access: 'write',
  async handle(store, call) {
    const { publishRelease } = await import('./publish.js')
    return await publishRelease(store, call)
  },
}

const list: FormatRoute = {
  method: 'GET',
  path: '/{scope}/{name}',
  access: 'read',
  async handle(store, { request, params }) {
    checkAccept(request.headers, 'json')
    const { scope = '', name = '' } = params
    const found = await requirePackage(store, scope, name.replace(/\.json$/i, ''))
    const versions = sortVersions(await store.listVersions(found.id))
    if (versions.length === 0) throw new Failure('not_found', NO_PACKAGE)
    const urlOf = (version: string) => releaseUrl(store.baseUrl, found.name, version)
    const latest = versions[0] && (await store.findVersion(found.id, versions[0].version))
    const links = [...repositoriesOf(latest), ...neighboursOf(versions, '', urlOf)]
    return store.document(found, request, {
      kind: 'releases',
      contentType: JSON_TYPE,
      headers: linkHeaders(links),
      make: async () => formatReleases(versions, urlOf),
    })
  },
}

/** Route for the document of a release and for its archive, which ends with `.zip` (4.2, 4.4). */
const get: FormatRoute = {
  method: 'GET',
  path: '/{scope}/{name}/{version}',
  access: 'read',
  handle(store, call) {
    const { version = '' } = call.params
    return /\.zip$/i.test(version) ? getArchive(store, call) : getRelease(store, call)
  },
}

async function getRelease(store: PackageStore, call: FormatCall): Promise<Reply> {
  checkAccept(call.request.headers, 'json')
  const { found, version } = await requireRelease(store, call, /\.json$/i)
  const versions = await store.listVersions(found.id)
  const urlOf = (version: string) => releaseUrl(store.baseUrl, found.name, version)
  const links = neighboursOf(versions, version.version, urlOf)
  return await store.document(found, call.request, {
    kind: `release ${version.version}`,
    contentType: JSON_TYPE,
    headers: linkHeaders(links),
    make: async () => formatRelease(found, version),
  })
}

async function getArchive(store: PackageStore, call: FormatCall): Promise<Reply> {
  checkAccept(call.request.headers, 'zip')
  const { version } = await requireRelease(store, call, /\.zip$/i)
  const [file] = version.files
  if (file === undefined) throw new Failure('not_found', NO_RELEASE)
  const { signature } = releaseOf(version)
  const digest = Buffer.from(file.digests.sha256, 'hex').toString('base64')
  const signing = signature && [
    ['X-Swift-Package-Signature-Format', signature.format] as const,
    ['X-Swift-Package-Signature', signature.archive] as const,
  ]
  return await store.serve(file, call.request, {
    contentType: 'application/zip',
    headers: [['Digest', `sha-256=${digest}`], ...(signing ?? [])],
  })
}

const getManifest: FormatRoute = {
  method: 'GET',
  path: '/{scope}/{name}/{version}/Package.swift',
  access: 'read',
  async handle(store, call) {
    checkAccept(call.request.headers, 'swift')
    const { found, version } = await requireRelease(store, call)
    const url = `${releaseUrl(store.baseUrl, found.name, version.version)}/${MANIFEST}`
    const { manifests } = releaseOf(version)
    const wanted = parameterOf(call.request.query, 'swift-version')
    const fileName = wanted === undefined ? MANIFEST : findVariant(manifests, wanted)
    if (fileName === undefined) {
      return { status: 303, headers: [['Location', url]] }
    }
    const links = variantsOf(manifests).map((variant) => ({
      url: `${url}?swift-version=${variant.swiftVersion}`,
      rel: 'alternate',
      parameters: { filename: variant.fileName, 'swift-tools-version': variant.toolsVersion },
    }))
    return await store.document(found, call.request, {
      kind: `manifest ${version.version} ${fileName}`,
      contentType: 'text/x-swift',
      headers: [
        ['Content-Disposition', `attachment; filename="${fileName}"`],
        ...(wanted === undefined ? linkHeaders(links) : []),
      ],
      make: async () => manifests[fileName] ?? '',
    })
  },
}

const identifiers: FormatRoute = {
  method: 'GET',
  path: '/identifiers',
  access: 'read',
  async handle(store, { request }) {
    checkAccept(request.headers, 'json')
    const url = parameterOf(request.query, 'url') ?? ''
    if (url.trim() === '') throw new Failure('bad_request', 'the query parameter url is missing')
    const property = { name: REPOSITORY_URL, value: normaliseRepositoryUrl(url) }
    const { packages } = await store.listPackages({ property })
    if (packages.length === 0) {
      throw new Failure('not_found', 'no package has this repository URL in its metadata')
    }
    return {
      status: 200,
      headers: [['Content-Type', JSON_TYPE]],
      body: JSON.stringify({ identifiers: packages.map(({ name }) => name) }),
    }
  },
}

/** Returns the route of `swift package-registry login`, which only requires valid credentials. */
const loginAt = (path: string): FormatRoute => ({
  method: 'POST',
  path,
  access: 'signed-in',
  handle: () => ({ status: 200 }),
})

/** Route of every other path, whose refusal then is a problem document too (3.3). */
const unknown: FormatRoute = {
  method: 'GET',
  path: '/{path...}',
  access: 'read',
  handle: () => {
    throw new Failure('not_found', 'the registry has no such path')
  },
}

/** Returns a route whose replies, also redirects, have the version of the API (3.5). */
const versioned = (route: FormatRoute): FormatRoute => ({
  ...route,
  handle: (store, call) =>
    after(route.handle(store, call), (reply) => ({
      ...reply,
      headers: [...(reply.headers ?? []), CONTENT_VERSION],
    })),
})

const NO_PACKAGE = 'package not found'
const NO_RELEASE = 'release not found'

async function requirePackage(store: PackageStore, scope: string, name: string): Promise<Package> {
  const found = await store.findPackage(`${scope}.${name}`)
  if (found === undefined) throw new Failure('not_found', NO_PACKAGE)
  return found
}

interface FoundRelease {
  readonly found: Package
  readonly version: FullVersion
}

async function requireRelease(
  store: PackageStore,
  { params }: FormatCall,
  suffix = /$/,
): Promise<FoundRelease> {
  const found = await requirePackage(store, params['scope'] ?? '', params['name'] ?? '')
  const version = await store.findVersion(found.id, (params['version'] ?? '').replace(suffix, ''))
  if (version === undefined) throw new Failure('not_found', NO_RELEASE)
  return { found, version }
}

/**
 * Returns the first query parameter of that name. A plus is not decoded as a space, because Swift's
 * client does not encode the plus signs in repository URLs.
 */
function parameterOf(query: string, name: string): string | undefined {
  const pair = query.split('&').find((one) => one === name || one.startsWith(`${name}=`))
  return pair && decodePercent(pair.slice(name.length + 1))
}

export const SWIFT: Format = {
  name: 'swift',
  routes: [put, list, get, getManifest, identifiers, loginAt(''), loginAt('/login'), unknown].map(
    versioned,
  ),
  describe,
  install,
  refuse: ({ status, message }) => ({
    headers: [
      ['Content-Type', 'application/problem+json'],
      CONTENT_VERSION,
      ['Content-Language', 'en'],
    ],
    body: JSON.stringify({ status, title: statusLine(status).slice(4), detail: message }),
  }),
}
