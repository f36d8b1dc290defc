/** The extra fields of an entry of a zip archive (APPNOTE.TXT 4.5). */

import { Failure } from '../../conf/failures.js'

/** Field with sizes and offsets of more than 32 bits (APPNOTE.TXT 4.5.3). */
export const ZIP64_EXTRA = 0x0001
/** Field with the entry's name in UTF-8 (APPNOTE.TXT 4.6.9). */
export const UNICODE_PATH_EXTRA = 0x7075

/** Returns the data of the field of that kind. Throws `bad_request` if there are several. */
export function findExtra(extra: Buffer, kind: number): Buffer | undefined {
  let found: Buffer | undefined
  // Some tools leave padding of fewer than four bytes at the end.
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2)
    if (end > extra.length) {
      throw new Failure('bad_request', 'An entry of the zip archive has a malformed extra field.')
    }
    if (extra.readUInt16LE(at) === kind) {
      if (found !== undefined) {
        const field = `extra field 0x${kind.toString(16).padStart(4, '0')}`
        throw new Failure('bad_request', `An entry of the zip archive has the ${field} twice.`)
      }
      found = extra.subarray(at + 4, end)
    }
    at = end
  }
  return found
}
