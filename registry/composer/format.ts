/** The Composer format: a repository of PHP packages (getcomposer.org/doc/05-repositories.md). */

import { Failure } from '../../conf/failures.js'
import { decodePercent, type Reply } from '../../conf/http.js'
import type { JsonObject } from '../../conf/package.js'
import type { Format, FormatRoute } from '../format.js'
import type { PackageQuery, PackageStore } from '../package-store.js'
import type { ComposerJson } from './composer-json.js'
import { describe } from './describe.js'
import { packageDocument, provider, searchResult, serviceIndex } from './documents.js'
import { install } from './install.js'
import { metadataOf } from './metadata.js'
import { fitsPattern } from './name-filter.js'
import { readNotification } from './notification.js'
import { isPackageName } from './package-name.js'
import { providedNames } from './provided-names.js'
import { type ComposerVersion, parseVersion } from './version.js'

const JSON_TYPE = 'application/json;charset=utf-8'
const NO_PACKAGE = 'package does not exist'
const TYPE_PROPERTY = 'composer.type'
const PROVIDE_PROPERTY = 'composer.provide'

const index: FormatRoute = {
  method: 'GET',
  path: '/packages.json',
  access: 'read',
  handle: (store) => inJson(serviceIndex(store.baseUrl)),
}

const metadata: FormatRoute = {
  method: 'GET',
  path: '/p2/{vendor}/{document}',
  access: 'read',
  async handle(store, { request, params }) {
    const { vendor = '', document = '' } = params
    const [, project = '', dev] = /^(.*?)(~dev)?\.json$/s.exec(document) ?? []
    const name = `${vendor}/${project}`
    const found = isPackageName(name) ? await store.findPackage(name) : undefined
    if (found === undefined) throw new Failure('not_found', NO_PACKAGE)
    const isDev = dev !== undefined
    // Only releases have tags.
    const source = isDev ? undefined : await store.sourceOf(found)
    const about = { name: found.name, baseUrl: store.baseUrl, isDev, source }
    return store.document(found, request, {
      kind: isDev ? 'dev' : 'releases',
      contentType: JSON_TYPE,
      source,
      async make() {
        const versions = await store.listFullVersions(found.id)
        if (versions.length === 0) throw new Failure('not_found', NO_PACKAGE)
        return JSON.stringify(await packageDocument(versions, about))
      },
    })
  },
}

const list: FormatRoute = {
  method: 'GET',
  path: '/list.json',
  access: 'read',
  async handle(store, { request }) {
    const query = new URLSearchParams(request.query)
    const vendor = query.get('vendor')?.toLowerCase() ?? ''
    const filter = query.get('filter') || '*'
    const packageNames: string[] = []
    for await (const name of namesOf(store)) {
      const isOfVendor = vendor === '' || name.startsWith(`${vendor}/`)
      if (isOfVendor && fitsPattern(name, filter)) packageNames.push(name)
    }
    return inJson({ packageNames })
  },
}

const PAGE_NAMES = 200

/** Lists all names in pages, because each package is read with the metadata of its last version. */
async function* namesOf(store: PackageStore): AsyncGenerator<string> {
  for (let page = 1; ; page += 1) {
    const { packages } = await store.listPackages({ page, limit: PAGE_NAMES })
    for (const { name } of packages) yield name
    if (packages.length < PAGE_NAMES) return
  }
}

const RESULTS_DEFAULT = 30
const RESULTS_MAX = 50

const search: FormatRoute = {
  method: 'GET',
  path: '/search.json',
  access: 'read',
  async handle(store, { request }) {
    const query = new URLSearchParams(request.query)
    const text = query.get('q') ?? ''
    const type = query.get('type') ?? ''
    const page = Math.max(1, wholeNumber(query.get('page')))
    const limit = Math.min(wholeNumber(query.get('per_page')) || RESULTS_DEFAULT, RESULTS_MAX)
    const packageQuery: PackageQuery = {
      text,
      page,
      limit,
      ...(type === '' ? {} : { property: { name: TYPE_PROPERTY, value: type.toLowerCase() } }),
    }
    const { packages, total } = await store.listPackages(packageQuery)
    // Other query parameters are not repeated in the URL, because they could contain a token.
    const nextQuery = new URLSearchParams({ page: String(page + 1), per_page: String(limit) })
    for (const [name, value] of Object.entries({ q: text, type })) {
      if (value !== '') nextQuery.set(name, value)
    }
    return inJson({
      results: packages.map(searchResult),
      total,
      ...(page * limit < total ? { next: `${store.baseUrl}/search.json?${nextQuery}` } : {}),
    })
  },
}

/** Parses a number of at most 9 digits; returns 0 for any other text. */
function wholeNumber(text: string | null): number {
  return /^\d{1,9}$/.test(text ?? '') ? Number(text) : 0
}

/** Maximum number of listed packages that provide a name; Composer shows 20. */
const PROVIDERS_MAX = 50

/** Route for the packages that provide a name, such as `psr/log-implementation` or `ext-json`. */
const providers: FormatRoute = {
  method: 'GET',
  path: '/providers/{document...}',
  access: 'read',
  async handle(store, { params }) {
    const { document = '' } = params
    const value = decodePercent(document)
      .replace(/\.json$/, '')
      .toLowerCase()
    const property = { name: PROVIDE_PROPERTY, value }
    const { packages } = await store.listPackages({ property, limit: PROVIDERS_MAX })
    return inJson({ providers: packages.map(provider) })
  },
}

const notify: FormatRoute = {
  method: 'POST',
  path: '/downloads',
  access: 'read',
  async handle(store, { request }) {
    await store.countDownloads(await readNotification(request.body))
    return inJson({ status: 'success' })
  },
}

const get: FormatRoute = {
  method: 'GET',
  path: '/files/{package}/{version}/{file}',
  access: 'read',
  async handle(store, { request, params }) {
    const { package: packageName = '', version = '', file: fileName = '' } = params
    const file = await store.findFile({ packageName, version, fileName })
    if (file === undefined) throw new Failure('not_found', 'package file does not exist')
    // Composer reports each installation, also one from its cache; see `notify`.
    const isReported = /^Composer\//.test(request.headers.get('user-agent') ?? '')
    return store.serve(file, request, { isReported })
  },
}

const put: FormatRoute = {
  method: 'PUT',
  path: '',
  access: 'write',
  async handle(store, { request }) {
    const upload = await store.receive(request.body)
    const archive = await store.inspect('composer', upload)
    const { composerJson, extension, readme } = archive
    // A version has no spaces, so a space is a plus that the client did not encode.
    const asked = new URLSearchParams(request.query).get('version')?.replaceAll(' ', '+')
    const version = versionOf(composerJson, asked || undefined)
    const { name, type } = composerJson
    await store.publish(upload, {
      packageName: name,
      version: version.key,
      fileName: `${`${name}.${version.key}`.replaceAll(/[^A-Za-z0-9.+_-]/g, '-')}${extension}`,
      unique: 'version',
      metadata: metadataOf(archive, version),
      readme,
      properties: [
        { name: TYPE_PROPERTY, value: type },
        ...providedNames(composerJson).map((value) => ({ name: PROVIDE_PROPERTY, value })),
      ],
    })
    return { status: 201 }
  },
}

/**
 * Returns the version in composer.json, or else in the URL. Throws `bad_request` if there is none
 * or if the two differ.
 */
function versionOf({ version }: ComposerJson, asked: string | undefined): ComposerVersion {
  const pretty = version ?? asked
  if (pretty === undefined) {
    const advice = 'set it in composer.json or in the query parameter version'
    throw new Failure('bad_request', `The version is missing: ${advice}.`)
  }
  const parsed = parseVersion(pretty)
  if (asked !== undefined && parseVersion(asked).normalized !== parsed.normalized) {
    const [own, other] = [pretty, asked].map((text) => JSON.stringify(text))
    const message = `composer.json has version ${own}, but the query parameter version is ${other}.`
    throw new Failure('bad_request', message)
  }
  return parsed
}

function inJson(body: JsonObject): Reply {
  return { status: 200, headers: [['Content-Type', JSON_TYPE]], body: JSON.stringify(body) }
}

export const COMPOSER: Format = {
  name: 'composer',
  routes: [index, metadata, list, search, providers, notify, get, put],
  describe,
  install,
  refuse: ({ status, message }) => ({
    headers: [['Content-Type', JSON_TYPE]],
    body: JSON.stringify({ errors: [{ status, message }] }),
  }),
}
