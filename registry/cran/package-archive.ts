/** The archive of a package: which kind it is, and the DESCRIPTION file in it. */

import { Failure } from '../../conf/failures.js'
import type { ByteSource } from '../archive/byte-source.js'
import { gunzip } from '../archive/compress.js'
import { readTar } from '../archive/tar.js'
import { openZip } from '../archive/zip.js'
import { type Description, parseDescription } from './description.js'

export interface PackageArchive {
  readonly description: Description
  readonly kind: 'tar' | 'zip'
}

/**
 * Reads as far as the DESCRIPTION file, at the root or in the folder of the package, whatever that
 * is called: R goes by what the file says. What comes after is not read: a package may have
 * hundreds of MB, and that file is among its first. Throws `bad_request` for what is no archive, or
 * has no such file.
 */
export async function readPackageArchive(source: ByteSource): Promise<PackageArchive> {
  const magic = (await source.read(0, 2)).toString('latin1')
  const kind = KINDS[magic]
  if (kind === undefined) {
    throw new Failure('bad_request', 'This is no R package: send a .tar.gz, .tgz or .zip archive.')
  }
  const found = await (kind === 'zip' ? findInZip(source) : findInTar(source))
  if (found === undefined) {
    const place = 'the one folder that an R package is in'
    throw new Failure('bad_request', `DESCRIPTION file is missing: there is none in ${place}.`)
  }
  return { description: parseDescription(found), kind }
}

const KINDS: Readonly<Record<string, PackageArchive['kind']>> = { '\x1f\x8b': 'tar', PK: 'zip' }

/** They are some KB; what is kept of one goes into the database and into an index. */
const DESCRIPTION_BYTES_MAX = 262_144

/** As far as anything is unpacked to find it. */
const UNPACKED_BYTES_MAX = 536_870_912

const TAR_LIMITS = { entriesMax: 50_000, headerBytesMax: 33_554_432 }

async function findInTar(source: ByteSource): Promise<Buffer | undefined> {
  for await (const entry of readTar(gunzip(source.stream(), UNPACKED_BYTES_MAX), TAR_LIMITS)) {
    if (entry.kind === 'file' && PLACE.test(entry.path)) {
      return await entry.read(DESCRIPTION_BYTES_MAX)
    }
  }
  return undefined
}

async function findInZip(source: ByteSource): Promise<Buffer | undefined> {
  const zip = await openZip(source)
  for (const entry of zip.entries) {
    if (entry.kind === 'file' && PLACE.test(entry.path)) {
      return await zip.read(entry, DESCRIPTION_BYTES_MAX)
    }
  }
  return undefined
}

/** Some programs begin all paths with `./`. */
const PLACE = /^(?:\.\/)?(?:(?!\.\.?\/)[^/]+\/)?DESCRIPTION$/
