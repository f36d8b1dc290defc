/** Alpine packages, as apk finds them in repositories with signed indexes. */

import { Failure } from '../../conf/failures.js'
import type { PackageFile } from '../../conf/package.js'
import type { Format, FormatCall, FormatRoute } from '../format.js'
import type { SigningKey } from '../index-maker.js'
import type { FileQuery, PackageStore } from '../package-store.js'
import { refuseInText } from '../refusal.js'
import { uploadBody } from '../upload-body.js'
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

/** Tells the files of one name apart. */
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
        // Under any other name apk does not find it.
        ['Content-Disposition', `attachment; filename="${keyFileName(key)}"`],
      ],
      body: key.publicKey,
    }
  },
}

/** Who installs a key now is to have the one that will stay. */
function newestOf([newest]: readonly SigningKey[]): SigningKey {
  if (newest === undefined) throw new Error('an owner has no key')
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
      // One that nobody has published for gets what is for all.
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
  const question = queryOf(params, architecture)
  return question && (await store.findFile(question))
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
    const question = queryOf(params, params['architecture'] ?? '')
    if (question !== undefined && (await store.removeFile(question))) return { status: 204 }
    throw new Failure('not_found', NO_FILE)
  },
}

/** For those who do not name the architecture: the file, where there is one for one alone. */
const removeOnlyFile: FormatRoute = {
  method: 'DELETE',
  path: '/{branch}/{repository}/{file}',
  access: 'write',
  async handle(store, { params }) {
    const question = queryOf(params, '')
    if (question === undefined) throw new Failure('not_found', NO_FILE)
    const files = await listFiles(store, question)
    const [only] = files
    if (only === undefined) throw new Failure('not_found', NO_FILE)
    if (files.length > 1) {
      const names = files.map(({ compositeKey }) => compositeKey.split('|').at(-1)).join(', ')
      const advice = 'name one before the file'
      throw new Failure(
        'bad_request',
        `The file is there for several architectures: ${names}; ${advice}.`,
      )
    }
    const { compositeKey } = only
    if (await store.removeFile({ ...question, compositeKey })) return { status: 204 }
    throw new Failure('not_found', NO_FILE)
  },
}

/** Of that name, for all architectures: the question's key is that of none. */
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
  install,
  refuse: refuseInText,
}
