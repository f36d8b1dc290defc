/** Ar archives, the container of Debian packages: lists their members (ar(5), deb(5)). */

import { Failure } from '../../conf/failures.js'
import type { ByteSource } from './byte-source.js'

export interface ArMember {
  readonly name: string
  /** Offset of the member's content in the archive. */
  readonly start: number
  readonly bytes: number
}

const MAGIC = '!<arch>\n'
const HEADER_BYTES = 60
/** Header: the name, four fields that are ignored, the size and the end marker (ar(5)). */
const HEADER = /^(.{16}).{32}(\d{1,10}) *`\n$/s

/**
 * Returns the members in order. Throws `bad_request` if the file is not an ar archive, is truncated
 * or has more than `membersMax` members.
 */
export async function listArMembers(
  source: ByteSource,
  membersMax: number,
): Promise<readonly ArMember[]> {
  const magic = await source.read(0, MAGIC.length)
  if (magic.toString('latin1') !== MAGIC) {
    throw new Failure('bad_request', 'The file is not an ar archive.')
  }
  const members: ArMember[] = []
  for (let at = MAGIC.length; at < source.bytes; ) {
    if (members.length === membersMax) {
      throw new Failure('bad_request', `The ar archive has more than ${membersMax} members.`)
    }
    const member = parseHeader(await source.read(at, HEADER_BYTES), at + HEADER_BYTES)
    const end = member.start + member.bytes
    if (end > source.bytes) throw damaged()
    members.push(member)
    // Members begin at even offsets; some programs do not pad the last member.
    at = end + (end % 2)
  }
  return members
}

function parseHeader(header: Buffer, start: number): ArMember {
  const [, rawName, size] = HEADER.exec(header.toString('latin1')) ?? []
  if (rawName === undefined) throw damaged()
  // GNU ar ends names with a slash, so that they can contain spaces.
  const name = rawName.replace(/ {1,16}$/, '').replace(/(?<=[^/])\/$/, '')
  return { name, start, bytes: Number(size) }
}

function damaged(): Failure {
  return new Failure('bad_request', 'The ar archive is damaged or truncated.')
}
