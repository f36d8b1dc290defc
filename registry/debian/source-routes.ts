/** Routes for the files of source packages, which are uploaded before the .dsc that lists them. */

import { Failure } from '../../conf/failures.js'
import type { FormatRoute } from '../format.js'
import type { PackageStore } from '../package-store.js'
import { uploadBody } from '../upload-body.js'
import { parsePlace } from './names.js'
import { SOURCE } from './packages-index.js'
import type { SourceControl } from './source-control.js'
import { parseSourceFileName, readSourceFileName, type SourceFileName } from './source-names.js'
import { type SourceFile, sourceMetadata } from './sources-index.js'

const POOL = '/pool/{distribution}/{component}'

const put: FormatRoute = {
  method: 'PUT',
  path: `${POOL}/{file}`,
  access: 'write',
  async handle(store, { request, params }) {
    const distribution = parsePlace(params['distribution'] ?? '')
    const component = parsePlace(params['component'] ?? '')
    const named = parseSourceFileName(params['file'] ?? '')
    if (named === undefined) throw new Failure('bad_request', NO_SOURCE)
    const compositeKey = `${distribution}|${component}`
    const upload = await store.receive(uploadBody(request))
    const place = { ...named, unique: 'file', compositeKey } as const
    if (!named.fileName.endsWith('.dsc')) {
      await store.publish(upload, place)
      return { status: 201 }
    }
    const control = await store.inspect('debianSource', upload)
    refuseOtherName(control, named)
    const metadata = sourceMetadata(control, await findFiles(store, control, compositeKey))
    const part = `${component}/${SOURCE}`
    await store.publish(upload, { ...place, indexes: [{ subject: distribution, part, metadata }] })
    return { status: 201 }
  },
}

const NO_SOURCE =
  'The file is not one of a source package: upload binary packages to the path /upload, and name' +
  ' source files as dpkg-source does, such as hello_1.0-1.dsc or hello_1.0.orig.tar.xz.'

function refuseOtherName({ packageName, version }: SourceControl, named: SourceFileName): void {
  const expected = `${packageName}_${version.replace(/^\d+:/, '')}.dsc`
  if (named.fileName === expected) return
  throw new Failure('bad_request', `The .dsc file must have the name ${expected}.`)
}

/** Returns the files of a source package. Throws `bad_request` if one is missing or differs. */
async function findFiles(
  store: PackageStore,
  { files }: SourceControl,
  compositeKey: string,
): Promise<readonly SourceFile[]> {
  const found: SourceFile[] = []
  for (const { name, bytes, sha256 } of files) {
    const named = parseSourceFileName(name)
    const file = named && (await store.findFile({ ...named, compositeKey }))
    if (file === undefined) {
      const advice = 'upload it to the same distribution and component before the .dsc file'
      throw new Failure(
        'bad_request',
        `The file ${name} of the source package is missing: ${advice}.`,
      )
    }
    if (file.name !== name || file.bytes !== bytes || file.digests.sha256 !== sha256) {
      const why = 'its name, size or SHA-256 is not that of the uploaded file'
      throw new Failure('bad_request', `The .dsc file lists another ${name}: ${why}.`)
    }
    found.push({ name, bytes, digests: file.digests })
  }
  return found
}

const remove: FormatRoute = {
  method: 'DELETE',
  path: `${POOL}/{file}`,
  access: 'write',
  async handle(store, { params }) {
    const named = readSourceFileName(params['file'] ?? '')
    const compositeKey = `${params['distribution']}|${params['component']}`
    if (named && (await store.removeFile({ ...named, compositeKey }))) return { status: 204 }
    throw new Failure('not_found', 'package file does not exist')
  },
}

export const SOURCE_ROUTES: readonly FormatRoute[] = [put, remove]
