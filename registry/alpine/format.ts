/** The Alpine format: repositories of apk packages with signed indexes (apk-repositories(5)). */

import { Failure } from '../../conf/failures.js'
import type { PackageFile } from '../../conf/package.js'
import type { Format, FormatCall, FormatRoute } from '../format.js'
import type { SigningKey } from '../index-maker.js'
import type { FileQuery, PackageStore } from '../package-store.js'
import { refuseInText } from '../refusal.js'
import { uploadBody } from '../upload-body.js'
import { describe } from './describe.js'
import { INDEX_MAKER, indexPath, NOARCH, subjectOf } from './indexes.js'
import { install } from './install.js'
import {
  fileNameOf,
  isArchitecture,
  parseRepository,
  type Repository,
  readFileName,
} from './names.js'
import { keyFileName } from './signing-key.js'

const FILE_PATH = '/{branch}/{repository}/{architecture}/{file}'
const NO_FILE = 'package file does not exist'

const put: FormatRoute = {
  method: 'PUT',
  path: '/{branch}/{repository}',
  access: 'write',
  async handle(store, { request, params }) {
    const place = parseRepository(params)
    const upload = await store.receive(uploadBody(request))
    const { info, checksum } = await store.inspect('alpine', upload)
    const { packageName, version, architecture, fields } = info
    await store.publish(upload, {
      packageName,
      version,
      fileName: fileNameOf(info),
      unique: 'file',
      isExactName: true,
      compositeKey: keyOf(place, architecture),
      indexes: [
        {
          key: `${packageName} ${version}`,
          subject: subjectOf(place),
          part: architecture,
          metadata: { C: checksum, ...fields },
        },
      ],
    })
    return { status: 201 }
  },
}

/** Returns the composite key, which distinguishes files of the same name. */
function keyOf({ branch, repository }: Repository, architecture: string): string {
  return `${branch}|${repository}|${architecture}`
}

const getKey: FormatRoute = {
  method: 'GET',
  path: '/key',
  access: 'read',
  async handle(store) {
    const key = newestOf(await store.signingKeys())
    return {
      status: 200,
      headers: [
        ['Content-Type', 'application/x-pem-file'],
        // apk finds a key by this file name, which the signatures contain (apk-v2(5)).
        ['Content-Disposition', `attachment; filename="${keyFileName(key)}"`],
      ],
      body: key.publicKey,
    }
  },
}

/** Returns the newest key, because rotated keys stop signing. */
function newestOf([newest]: readonly SigningKey[]): SigningKey {
  if (newest === undefined) throw new Error('the owner has no signing key')
  return newest
}

const getIndex: FormatRoute = {
  method: 'GET',
  path: '/{branch}/{repository}/{architecture}/APKINDEX.tar.gz',
  access: 'read',
  async handle(store, { request, params }) {
    const { branch = '', repository = '', architecture = '' } = params
    const index = await store.openIndex(subjectOf({ branch, repository }))
    const file =
      (await index?.findFile(indexPath(architecture))) ??
      // An architecture without packages of its own gets the index of `noarch`.
      (isArchitecture(architecture) ? await index?.findFile(indexPath(NOARCH)) : undefined)
    if (file === undefined) throw new Failure('not_found', NO_FILE)
    const contentType = 'application/gzip'
    return store.serveIndexFile(file, request, { contentType, downloadName: 'APKINDEX.tar.gz' })
  },
}

const getFile: FormatRoute = {
  method: 'GET',
  path: FILE_PATH,
  access: 'read',
  async handle(store, { request, params }) {
    const { architecture = '' } = params
    const file =
      (await findFile(store, params, architecture)) ?? (await findFile(store, params, NOARCH))
    if (file === undefined) throw new Failure('not_found', NO_FILE)
    return store.serve(file, request, {})
  },
}

async function findFile(
  store: PackageStore,
  params: FormatCall['params'],
  architecture: string,
): Promise<PackageFile | undefined> {
  const query = queryOf(params, architecture)
  return query && (await store.findFile(query))
}

function queryOf(params: FormatCall['params'], architecture: string): FileQuery | undefined {
  const { branch = '', repository = '', file: fileName = '' } = params
  const id = readFileName(fileName)
  return id && { ...id, fileName, compositeKey: keyOf({ branch, repository }, architecture) }
}

const removeFile: FormatRoute = {
  method: 'DELETE',
  path: FILE_PATH,
  access: 'write',
  async handle(store, { params }) {
    const query = queryOf(params, params['architecture'] ?? '')
    if (query !== undefined && (await store.removeFile(query))) return { status: 204 }
    throw new Failure('not_found', NO_FILE)
  },
}

/** Removes a file without naming its architecture. Refused if several architectures have it. */
const removeOnlyFile: FormatRoute = {
  method: 'DELETE',
  path: '/{branch}/{repository}/{file}',
  access: 'write',
  async handle(store, { params }) {
    const query = queryOf(params, '')
    if (query === undefined) throw new Failure('not_found', NO_FILE)
    const files = await listFiles(store, query)
    const [only] = files
    if (only === undefined) throw new Failure('not_found', NO_FILE)
    if (files.length > 1) {
      const names = files.map(({ compositeKey }) => compositeKey.split('|').at(-1)).join(', ')
      const advice = 'put one of them before the file name in the URL'
      throw new Failure(
        'bad_request',
        `The file exists for several architectures (${names}): ${advice}.`,
      )
    }
    const { compositeKey } = only
    if (await store.removeFile({ ...query, compositeKey })) return { status: 204 }
    throw new Failure('not_found', NO_FILE)
  },
}

/** Returns the files of that name; the key in the query is a prefix that ends before a name. */
async function listFiles(
  store: PackageStore,
  { packageName, version, fileName, compositeKey = '' }: FileQuery,
): Promise<readonly PackageFile[]> {
  const known = await store.findPackage(packageName)
  const found = known && (await store.findVersion(known.id, version))
  const isMeant = (file: PackageFile) =>
    file.compositeKey.startsWith(compositeKey) && file.name.toLowerCase() === fileName.toLowerCase()
  return found?.files.filter(isMeant) ?? []
}

export const ALPINE: Format = {
  name: 'alpine',
  routes: [put, getKey, getIndex, getFile, removeFile, removeOnlyFile],
  index: INDEX_MAKER,
  describe,
  install,
  refuse: refuseInText,
}
