/** Lines of a package for Contents files: the paths that it installs ("Contents" indices). */

import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { Failure } from '../../conf/failures.js'
import type { JsonObject } from '../../conf/package.js'
import { listArMembers } from '../archive/ar.js'
import type { ByteSource } from '../archive/byte-source.js'
import { readTar } from '../archive/tar.js'
import { MEMBERS_MAX, readDebFile } from './deb-file.js'
import { type UnpackLimits, unpackMember } from './deb-member.js'

/** Limits of the installed files, which take some seconds to decompress. */
const DATA_LIMITS: UnpackLimits = {
  what: 'data archive',
  packedBytesMax: 16_777_216,
  unpackedBytesMax: 268_435_456,
}
const TAR_LIMITS = { entriesMax: 50_000, headerBytesMax: 67_108_864 }

/** Maximum size of the lines of a package, about 25,000 paths, and of their compressed form. */
const LINES_BYTES_MAX = 2_097_152
const STORED_BYTES_MAX = 262_144

/** Lines of a package, as the metadata of an index entry stores them. */
export interface Contents extends JsonObject {
  readonly bytes: number
  /** The lines, compressed (RFC 1951), in Base64. */
  readonly deflated: string
}

/**
 * Reads the paths in a package. Throws `bad_request` if they cannot be read or exceed a limit.
 * Undefined for a package without files.
 */
export async function readContents(source: ByteSource): Promise<Contents | undefined> {
  const { packageName, fields } = await readDebFile(source)
  const members = await listArMembers(source, MEMBERS_MAX)
  const data = members.find(({ name }) => name.startsWith('data.tar'))
  if (data === undefined) return undefined
  const section = fields.find(([name]) => name === 'Section')?.[1] ?? ''
  const location = /^[A-Za-z0-9+./_-]+$/.test(section) ? `${section}/${packageName}` : packageName
  const lines = await linesOf(unpackMember(source, data, DATA_LIMITS), location)
  return lines.byteLength === 0 ? undefined : await deflated(lines)
}

async function linesOf(tar: AsyncIterable<Uint8Array>, location: string): Promise<Buffer> {
  const paths = new Set<string>()
  let bytes = 0
  for await (const { path: written, kind } of readTar(tar, TAR_LIMITS)) {
    const path = written.replace(/^(?:\.?\/)+/, '')
    // A path with a control character would be read as several lines.
    if (kind === 'folder' || path === '' || /\p{Cc}/u.test(path) || paths.has(path)) continue
    paths.add(path)
    bytes += Buffer.byteLength(lineOf(path, location))
    if (bytes > LINES_BYTES_MAX) throw tooLarge()
  }
  const lines = [...paths].sort().map((path) => lineOf(path, location))
  return Buffer.from(lines.join(''))
}

/** Width of the first column in the files of Debian. */
const COLUMN_CHARACTERS = 55

function lineOf(path: string, location: string): string {
  return `${path.padEnd(COLUMN_CHARACTERS)} ${location}\n`
}

function tooLarge(): Failure {
  return new Failure('bad_request', `The paths of the package exceed ${LINES_BYTES_MAX} bytes.`)
}

async function deflated(lines: Buffer): Promise<Contents> {
  const packed = await promisify(deflateRaw)(lines)
  if (packed.byteLength > STORED_BYTES_MAX) throw tooLarge()
  return { bytes: lines.byteLength, deflated: packed.toString('base64') }
}

/** Returns the lines of a package. */
export async function contentsLines({ deflated }: Contents): Promise<Buffer> {
  return await promisify(inflateRaw)(Buffer.from(deflated, 'base64'))
}
