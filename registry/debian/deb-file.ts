/** Debian package files (deb(5)): finds and reads the control file. */

import { Failure } from '../../conf/failures.js'
import { type ArMember, listArMembers } from '../archive/ar.js'
import type { ByteSource } from '../archive/byte-source.js'
import { readTar } from '../archive/tar.js'
import { type Control, parseControl } from './control.js'
import { type UnpackLimits, unpackMember } from './deb-member.js'

/** Maximum number of members: a package has three, and signatures add more. */
export const MEMBERS_MAX = 100

/**
 * Reads the control file of a package. Throws `bad_request` if the file is not a Debian package, or
 * does not have exactly one well-formed control file.
 */
export async function readDebFile(source: ByteSource): Promise<Control> {
  const members = await listArMembers(source, MEMBERS_MAX)
  await checkFormat(source, members[0])
  const found = members.filter(({ name }) => name.startsWith(CONTROL))
  const data = members.findIndex(({ name }) => name.startsWith('data.tar'))
  const [control] = found
  if (control === undefined) throw new Failure('bad_request', 'The control file is missing.')
  if (found.length > 1 || (data >= 0 && data < members.indexOf(control))) {
    // With several control archives, another program could read a different one.
    const rule = 'control.tar must occur once, before data.tar'
    throw new Failure('bad_request', `The members of the package are out of order: ${rule}.`)
  }
  return parseControl(await findControlFile(unpackMember(source, control, CONTROL_LIMITS)))
}

/** Throws `bad_request` for an unknown format version. A package without one is accepted. */
async function checkFormat(source: ByteSource, first: ArMember | undefined): Promise<void> {
  if (first?.name !== 'debian-binary') return
  const text = await source.read(first.start, Math.min(first.bytes, 4))
  if (/^2\.\d/.test(text.toString('latin1'))) return
  const rule = 'its debian-binary must contain 2.0'
  throw new Failure('bad_request', `The package has an unsupported format version: ${rule}.`)
}

const CONTROL = 'control.tar'

/** Maximum size of the control archive; the md5sums of 100,000 files take about as much. */
const CONTROL_LIMITS: UnpackLimits = {
  what: 'control archive',
  packedBytesMax: 16_777_216,
  unpackedBytesMax: 16_777_216,
}

const TAR_LIMITS = { entriesMax: 1_000, headerBytesMax: 1_048_576 }

/** Maximum size of a control file, which becomes a part of the index. */
const CONTROL_BYTES_MAX = 262_144

async function findControlFile(tar: AsyncIterable<Uint8Array>): Promise<Buffer> {
  let found: Buffer | undefined
  for await (const entry of readTar(tar, TAR_LIMITS)) {
    if (entry.path.replace(/^(?:\.?\/)+/, '') !== 'control') continue
    // dpkg would read the last of several files.
    if (found !== undefined) {
      throw new Failure('bad_request', 'The package has several control files.')
    }
    if (entry.kind !== 'file') {
      throw new Failure('bad_request', 'The control file is not a regular file.')
    }
    found = await entry.read(CONTROL_BYTES_MAX)
  }
  if (found === undefined) throw new Failure('bad_request', 'The control file is missing.')
  return found
}
