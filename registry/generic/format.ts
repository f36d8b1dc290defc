/** The generic format: any files under a name and a version. */

import { Failure } from '../../conf/failures.js'
import { describeNothing } from '../description.js'
import type { Format, FormatCall, FormatRoute } from '../format.js'
import type { FileQuery } from '../package-store.js'
import { refuseInText } from '../refusal.js'
import { uploadBody } from '../upload-body.js'
import { install } from './install.js'
import { parseFileName, parsePackageName, parseVersion } from './names.js'
import { readChecksums, refuseOtherBytes } from './sent-checksums.js'

const FILE_PATH = '/{name}/{version}/{file}'
const FILE_EXISTS = 'package file already exists'
const NO_FILE = 'package file does not exist'
const NO_VERSION = 'package does not exist'

const put: FormatRoute = {
  method: 'PUT',
  path: FILE_PATH,
  access: 'write',
  async handle(store, { request, params }) {
    const packageName = parsePackageName(params['name'] ?? '')
    const version = parseVersion(params['version'] ?? '')
    const fileName = parseFileName(params['file'] ?? '')
    // Refused before the body, which can be gigabytes, is received.
    if ((await store.findFile({ packageName, version, fileName })) !== undefined) {
      const isAskedFor = request.headers.get('if-none-match') === '*'
      throw new Failure(isAskedFor ? 'precondition_failed' : 'conflict', FILE_EXISTS)
    }
    const checksums = readChecksums(request.headers)
    const upload = await store.receive(uploadBody(request))
    refuseOtherBytes(checksums, upload.digests)
    await store.publish(upload, { packageName, version, fileName, unique: 'file' })
    return { status: 201, headers: [['X-Checksum-Sha256', upload.digests.sha256]] }
  },
}

const get: FormatRoute = {
  method: 'GET',
  path: FILE_PATH,
  access: 'read',
  async handle(store, { request, params }) {
    const file = await store.findFile(queryOf(params))
    if (file === undefined) throw new Failure('not_found', NO_FILE)
    const headers = [['X-Checksum-Sha256', file.digests.sha256]] as const
    return store.serve(file, request, { headers })
  },
}

const removeFile: FormatRoute = {
  method: 'DELETE',
  path: FILE_PATH,
  access: 'write',
  async handle(store, { params }) {
    if (await store.removeFile(queryOf(params))) return { status: 204 }
    throw new Failure('not_found', NO_FILE)
  },
}

const removeVersion: FormatRoute = {
  method: 'DELETE',
  path: '/{name}/{version}',
  access: 'write',
  async handle(store, { params }) {
    const { packageName, version } = queryOf(params)
    if (await store.removeVersion(packageName, version)) return { status: 204 }
    throw new Failure('not_found', NO_VERSION)
  },
}

function queryOf(params: FormatCall['params']): FileQuery {
  const { name = '', version = '', file = '' } = params
  return { packageName: name, version, fileName: file }
}

export const GENERIC: Format = {
  name: 'generic',
  routes: [put, get, removeFile, removeVersion],
  describe: describeNothing,
  install,
  refuse: refuseInText,
}
