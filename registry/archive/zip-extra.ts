/** The extra fields that stand with an entry of a zip (APPNOTE.TXT 4.5). */

import { Failure } from '../../conf/failures.js'

/** Sizes and offsets of more than 32 bits. */
export const ZIP64_EXTRA = 0x0001
/** Another name for the entry, in UTF-8. */
export const UNICODE_PATH_EXTRA = 0x7075

/** The data of the field of that kind. Throws `bad_request` when there are several. */
export function findExtra(extra: Buffer, kind: number): Buffer | undefined {
  let found: Buffer | undefined
  // Fewer than four bytes at the end are padding, as some tools leave it.
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2)
    if (end > extra.length) {
      throw new Failure('bad_request', 'An entry of the zip has a broken extra field.')
    }
    if (extra.readUInt16LE(at) === kind) {
      if (found !== undefined) {
        throw new Failure('bad_request', 'An entry of the zip says the same thing twice.')
      }
      found = extra.subarray(at + 4, end)
    }
    at = end
  }
  return found
}
