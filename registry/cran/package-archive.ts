/** Archives of R packages: detects their type and reads their DESCRIPTION file. */

import { Failure, isFailure } from '../../conf/failures.js'
import type { ByteSource } from '../archive/byte-source.js'
import { gunzip } from '../archive/compress.js'
import { readTar } from '../archive/tar.js'
import { openZip } from '../archive/zip.js'
import { isReadme, README_BYTES_MAX, readmeText, readReadme } from '../readme.js'
import { type Description, parseDescription } from './description.js'

export interface PackageArchive {
  readonly description: Description
  readonly kind: 'tar' | 'zip'
  /** README beside DESCRIPTION. */
  readonly readme: string | undefined
}

/**
 * Reads the DESCRIPTION file in the root or in a top-level folder, whose name is ignored, as R
 * does, and the README beside it. The end of a large tar archive is not read, because a package can
 * have hundreds of megabytes and both are among its first files. Throws `bad_request` if the file
 * is not an archive or has no DESCRIPTION.
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
  return { description: parseDescription(found.text), kind, readme: await found.readme() }
}

const KINDS: Readonly<Record<string, PackageArchive['kind']>> = { '\x1f\x8b': 'tar', PK: 'zip' }

/** Maximum size of a DESCRIPTION file, parts of which are stored in the database. */
const DESCRIPTION_BYTES_MAX = 262_144

/** Maximum number of decompressed bytes that are searched for DESCRIPTION. */
const UNPACKED_BYTES_MAX = 536_870_912

interface Found {
  readonly text: Buffer
  /** Reads the README in the folder of DESCRIPTION. */
  readme(): Promise<string | undefined>
}

const TAR_LIMITS = { entriesMax: 50_000, headerBytesMax: 33_554_432 }

async function findInTar(source: ByteSource): Promise<Found | undefined> {
  for await (const entry of readTar(gunzip(source.stream(), UNPACKED_BYTES_MAX), TAR_LIMITS)) {
    if (entry.kind === 'file' && PLACE.test(entry.path)) {
      const text = await entry.read(DESCRIPTION_BYTES_MAX)
      return { text, readme: () => readmeInTar(source, folderOf(entry.path)) }
    }
  }
  return undefined
}

/** Numbers of bytes at the front of a tar archive that are searched for a README. */
const README_SEARCH = { packedBytes: 4_194_304, unpackedBytes: 16_777_216 }

async function readmeInTar(source: ByteSource, folder: string): Promise<string | undefined> {
  const front = source.stream(0, Math.min(source.bytes, README_SEARCH.packedBytes))
  const tar = gunzip(front, README_SEARCH.unpackedBytes)
  try {
    for await (const { path, kind, bytes, read } of readTar(tar, TAR_LIMITS)) {
      const isHere = path.startsWith(folder) && isReadme(path.slice(folder.length))
      if (isHere && kind === 'file' && bytes <= README_BYTES_MAX) {
        return readmeText(await read(README_BYTES_MAX))
      }
    }
  } catch (error) {
    // The front of a larger archive ends anywhere.
    if (!isFailure(error, 'bad_request')) throw error
  }
  return undefined
}

async function findInZip(source: ByteSource): Promise<Found | undefined> {
  const zip = await openZip(source)
  for (const entry of zip.entries) {
    if (entry.kind === 'file' && PLACE.test(entry.path)) {
      const text = await zip.read(entry, DESCRIPTION_BYTES_MAX)
      return { text, readme: () => readReadme(zip, folderOf(entry.path)) }
    }
  }
  return undefined
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}

/** Paths of DESCRIPTION; some programs begin all paths with `./`. */
const PLACE = /^(?:\.\/)?(?:(?!\.\.?\/)[^/]+\/)?DESCRIPTION$/
