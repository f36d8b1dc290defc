/** The CRAN format: a repository of R packages ("R Installation and Administration" 6.6). */

import { Failure } from '../../conf/failures.js'
import { decodePercent, type Reply, type Request } from '../../conf/http.js'
import type { Format, FormatRoute } from '../format.js'
import type { PackageStore } from '../package-store.js'
import { refuseInText } from '../refusal.js'
import { uploadBody } from '../upload-body.js'
import { describe } from './describe.js'
import { install } from './install.js'
import { ARCHIVE_PATH, PACKAGES_INDEX } from './packages-index.js'
import { binaryPlace, type Place, SOURCE } from './place.js'

const putSource: FormatRoute = {
  method: 'PUT',
  path: '/src',
  access: 'write',
  handle: (store, { request }) => publish(store, request, SOURCE),
}

const putBinary: FormatRoute = {
  method: 'PUT',
  path: '/bin',
  access: 'write',
  async handle(store, { request }) {
    const query = new URLSearchParams(request.query)
    const [platform = '', rversion = ''] = ['platform', 'rversion'].map((name) =>
      query.get(name)?.trim(),
    )
    const place = binaryPlace(platform, rversion)
    if (place === undefined) {
      const advice = 'use values such as platform=windows&rversion=4.2'
      const message = `A query parameter platform or rversion is missing or invalid: ${advice}.`
      throw new Failure('bad_request', message)
    }
    return await publish(store, request, place)
  },
}

async function publish(store: PackageStore, request: Request, place: Place): Promise<Reply> {
  const upload = await store.receive(uploadBody(request))
  const { kind, description, readme } = await store.inspect('cran', upload)
  const { packageName, version, fields, about } = description
  const stem = `${packageName}_${version}`
  const suffix = kind === 'zip' ? '.zip' : place.tarSuffix
  const fileName = `${stem}${suffix}`
  const file = suffix === place.usualSuffix ? {} : { File: fileName }
  const { subject, compositeKey } = place
  await store.publish(upload, {
    packageName,
    version,
    fileName,
    compositeKey,
    unique: 'file',
    isExactName: true,
    metadata: about,
    readme,
    indexes: [{ key: packageName, subject, part: '', metadata: { ...fields, ...file } }],
  })
  return { status: 201 }
}

const getSource: FormatRoute = {
  method: 'GET',
  path: '/src/contrib/{file}',
  access: 'read',
  handle: (store, { request, params }) =>
    answer(store, request, { place: SOURCE, fileName: params['file'] }),
}

/** Route for the list of archived versions. */
const getArchive: FormatRoute = {
  method: 'GET',
  path: `/src/contrib/${ARCHIVE_PATH}`,
  access: 'read',
  handle: (store, { request }) => serveIndex(store, request, { place: SOURCE, path: ARCHIVE_PATH }),
}

/** Route for older versions, which CRAN moves to the folder Archive. */
const getArchived: FormatRoute = {
  method: 'GET',
  path: '/src/contrib/Archive/{package}/{file}',
  access: 'read',
  handle: (store, { request, params }) =>
    serveFile(store, request, { place: SOURCE, fileName: params['file'] }),
}

/** Route for binaries. The name of a platform can have several segments. */
const getBinary: FormatRoute = {
  method: 'GET',
  path: '/bin/{rest...}',
  access: 'read',
  async handle(store, { request, params }) {
    const segments = (params['rest'] ?? '').split('/').map(decodePercent)
    const [contrib, rversion = '', fileName] = segments.splice(-3)
    const place = binaryPlace(segments.join('/'), rversion)
    if (contrib !== 'contrib' || place === undefined) throw notFound()
    return await answer(store, request, { place, fileName })
  },
}

export const CRAN: Format = {
  name: 'cran',
  routes: [putSource, putBinary, getSource, getArchive, getArchived, getBinary],
  index: PACKAGES_INDEX,
  describe,
  install,
  refuse: refuseInText,
}

/** Returns the error for a missing file, without text, because R ignores the body. */
function notFound(): Failure {
  return new Failure('not_found', '')
}

interface Asked {
  readonly place: Place
  readonly fileName: string | undefined
}

const INDEX_TYPES: ReadonlyMap<string, string> = new Map([
  ['PACKAGES', 'text/plain;charset=utf-8'],
  ['PACKAGES.gz', 'application/x-gzip'],
  ['PACKAGES.rds', 'application/octet-stream'],
  [ARCHIVE_PATH, 'application/octet-stream'],
])

async function answer(store: PackageStore, request: Request, asked: Asked): Promise<Reply> {
  const { place, fileName: path = '' } = asked
  if (!INDEX_TYPES.has(path)) return await serveFile(store, request, asked)
  return await serveIndex(store, request, { place, path })
}

async function serveIndex(
  store: PackageStore,
  request: Request,
  { place, path }: { readonly place: Place; readonly path: string },
): Promise<Reply> {
  const index = await store.openIndex(place.subject)
  const file = await index?.findFile(path)
  if (file === undefined) throw notFound()
  const contentType = INDEX_TYPES.get(path) ?? 'application/octet-stream'
  return await store.serveIndexFile(file, request, { contentType })
}

async function serveFile(store: PackageStore, request: Request, asked: Asked): Promise<Reply> {
  const { place, fileName = '' } = asked
  const [, packageName, version] = /^([^_]+)_([^_]+)(?:\.tar\.gz|\.tgz|\.zip)$/.exec(fileName) ?? []
  if (packageName === undefined || version === undefined) throw notFound()
  const { compositeKey } = place
  const file = await store.findFile({ packageName, version, fileName, compositeKey })
  if (file === undefined) throw notFound()
  return await store.serve(file, request, {})
}
