/** The Debian format: apt repositories (wiki.debian.org/DebianRepository/Format). */

import { Failure } from '../../conf/failures.js'
import type { Format, FormatCall, FormatRoute } from '../format.js'
import type { FileQuery, IndexFile, PackageStore, Upload } from '../package-store.js'
import { refuseInText } from '../refusal.js'
import { armorKeys, dearmorKeys } from '../sign/openpgp.js'
import { uploadBody } from '../upload-body.js'
import type { Contents } from './contents.js'
import { describe } from './describe.js'
import { DISTRIBUTION, packagesPath } from './distribution.js'
import { install } from './install.js'
import { type PoolFile, parsePlace, poolFileName, readPoolFileName } from './names.js'
import { entryMetadata } from './packages-index.js'
import { readSourceFileName } from './source-names.js'
import { SOURCE_ROUTES } from './source-routes.js'

const POOL = '/pool/{distribution}/{component}'
const DIST = '/dists/{distribution}'
const LIST = `${DIST}/{component}/{architecture}`
const BY_HASH = '/by-hash/{algorithm}/{digest}'

const put: FormatRoute = {
  method: 'PUT',
  path: `${POOL}/upload`,
  access: 'write',
  async handle(store, { request, params }) {
    const distribution = parsePlace(params['distribution'] ?? '')
    const component = parsePlace(params['component'] ?? '')
    const upload = await store.receive(uploadBody(request))
    const control = await store.inspect('debian', upload)
    const { packageName, version, architecture } = control
    const part = `${component}/${architecture}`
    const metadata = entryMetadata(control, await contentsOf(store, upload))
    await store.publish(upload, {
      packageName,
      version,
      fileName: poolFileName(control),
      unique: 'file',
      compositeKey: `${distribution}|${component}`,
      indexes: [{ subject: distribution, part, metadata }],
    })
    return { status: 201 }
  },
}

/** Returns the paths of a package; undefined if it has none or reading them costs too much. */
async function contentsOf(store: PackageStore, upload: Upload): Promise<Contents | undefined> {
  try {
    return await store.inspect('debianContents', upload)
  } catch (error) {
    if (error instanceof Failure && error.failure === 'bad_request') return undefined
    throw error
  }
}

const get: FormatRoute = {
  method: 'GET',
  path: `${POOL}/{file}`,
  access: 'read',
  async handle(store, { request, params }) {
    const { distribution, component, file: fileName = '' } = params
    const source = readSourceFileName(fileName)
    if (source !== undefined) {
      const compositeKey = `${distribution}|${component}`
      const file = await store.findFile({ ...source, compositeKey })
      if (file === undefined) throw noFile()
      return store.serve(file, request, {})
    }
    const asked = readPoolFileName(fileName)
    const file = asked && (await store.findFile(queryOf(params, asked)))
    if (file === undefined) throw noFile()
    return store.serve(file, request, { contentType: 'application/vnd.debian.binary-package' })
  },
}

const remove: FormatRoute = {
  method: 'DELETE',
  path: `${POOL}/{name}/{version}/{architecture}`,
  access: 'write',
  async handle(store, { params }) {
    const { name = '', version = '', architecture = '' } = params
    const asked = { packageName: name, version, architecture }
    if (await store.removeFile(queryOf(params, asked))) return { status: 204 }
    throw noFile()
  },
}

function queryOf(params: FormatCall['params'], asked: PoolFile): FileQuery {
  const { packageName, version } = asked
  const compositeKey = `${params['distribution']}|${params['component']}`
  return { packageName, version, fileName: poolFileName(asked), compositeKey }
}

function noFile(): Failure {
  return new Failure('not_found', 'package file does not exist')
}

/** Routes for all signing keys: armored for `signed-by=….asc`, binary for `signed-by=….gpg`. */
const keys: readonly FormatRoute[] = [
  keyRoute('repository.key', armorKeys),
  keyRoute('repository.gpg', dearmorKeys),
]

function keyRoute(
  fileName: string,
  encode: (armored: readonly string[]) => Promise<string | Uint8Array>,
): FormatRoute {
  return {
    method: 'GET',
    path: `/${fileName}`,
    access: 'read',
    async handle(store) {
      const armored = (await store.signingKeys()).map(({ publicKey }) => publicKey)
      const headers = [
        ['Content-Type', 'application/pgp-keys'],
        ['Content-Disposition', `attachment; filename="${fileName}"`],
      ] as const
      return { status: 200, headers, body: await encode(armored) }
    },
  }
}

/** Returns a route for a file of the current index of a distribution. */
function indexRoute(path: string, pathOf: (params: FormatCall['params']) => string): FormatRoute {
  return {
    method: 'GET',
    path,
    access: 'read',
    async handle(store, { request, params }) {
      const index = await store.openIndex(params['distribution'] ?? '')
      return store.serveIndexFile(found(await index?.findFile(pathOf(params))), request, {})
    },
  }
}

/**
 * Returns a route for a file of an index by its digest, which also serves recent generations
 * ("Acquire-By-Hash" of the repository format).
 */
function byHashRoute(path: string): FormatRoute {
  return {
    method: 'GET',
    path: `${path}${BY_HASH}`,
    access: 'read',
    async handle(store, { request, params }) {
      const algorithm = (params['algorithm'] ?? '').toLowerCase()
      const digest = (params['digest'] ?? '').toLowerCase()
      // MD5 and SHA-1 do not identify a file, because collisions can be constructed.
      if (algorithm !== 'sha256' && algorithm !== 'sha512') throw noIndex()
      const asked = { algorithm, digest } as const
      const file = await store.findIndexFile(params['distribution'] ?? '', asked)
      return store.serveIndexFile(found(file), request, {})
    },
  }
}

function found(file: IndexFile | undefined): IndexFile {
  if (file === undefined) throw noIndex()
  return file
}

function noIndex(): Failure {
  return new Failure('not_found', 'not found: the index file does not exist')
}

/** Returns the path of a Packages file in the index. Accepts `binary-amd64` and `amd64`. */
function listPath({ component = '', architecture = '', file = '' }: FormatCall['params']): string {
  const path = packagesPath(`${component}/${architecture.replace(/^binary-/, '')}`)
  return path + file.slice('Packages'.length)
}

/** Returns the path of a Contents file in the index; for other files, one that does not exist. */
function contentsPath({ component = '', file = '' }: FormatCall['params']): string {
  return file.startsWith('Contents-') ? `${component}/${file}` : ''
}

export const DEBIAN: Format = {
  name: 'debian',
  routes: [
    put,
    get,
    remove,
    ...SOURCE_ROUTES,
    ...keys,
    ...['Release', 'InRelease', 'Release.gpg'].map((file) =>
      indexRoute(`${DIST}/${file}`, () => file),
    ),
    ...['Packages', 'Packages.gz', 'Packages.xz'].map((file) =>
      indexRoute(`${LIST}/${file}`, (params) => listPath({ ...params, file })),
    ),
    ...['Sources', 'Sources.gz', 'Sources.xz'].map((file) =>
      indexRoute(`${DIST}/{component}/source/${file}`, ({ component }) => {
        return `${component}/source/${file}`
      }),
    ),
    indexRoute(`${DIST}/{component}/{file}`, contentsPath),
    byHashRoute(DIST),
    byHashRoute(`${DIST}/{component}`),
    byHashRoute(LIST),
  ],
  index: DISTRIBUTION,
  describe,
  install,
  refuse: refuseInText,
}
