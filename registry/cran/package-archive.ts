/** Archives of R packages: detects their type and reads their DESCRIPTION file. */

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
 * Reads the DESCRIPTION file in the root or in a top-level folder, whose name is ignored, as R
 * does. The rest of a tar archive is not read, because a package can have hundreds of megabytes and
 * DESCRIPTION is one of its first files. Throws `bad_request` if the file is not an archive or has
 * no DESCRIPTION.
 */
export async function readPackageArchive(source: ByteSource): Promise<PackageArchive> {
  const magic = (await source.read(0, 2)).toString('latin1')
  const kind = KINDS[magic]
  if (kind === undefined) {
    const advice = 'upload a .tar.gz, .tgz or .zip archive'
    throw new Failure('bad_request', `The file is not an R package: ${advice}.`)
  }
  const found = await (kind === 'zip' ? findInZip(source) : findInTar(source))
  if (found === undefined) {
    const place = 'the root or a top-level folder of the archive'
    throw new Failure('bad_request', `DESCRIPTION file is missing: it must be in ${place}.`)
  }
  return { description: parseDescription(found), kind }
}

const KINDS: Readonly<Record<string, PackageArchive['kind']>> = { '\x1f\x8b': 'tar', PK: 'zip' }

/** Maximum size of a DESCRIPTION file, parts of which are stored in the database. */
const DESCRIPTION_BYTES_MAX = 262_144

/** Maximum number of decompressed bytes that are searched for it. */
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

/** Paths of DESCRIPTION; some programs begin all paths with `./`. */
const PLACE = /^(?:\.\/)?(?:(?!\.\.?\/)[^/]+\/)?DESCRIPTION$/
