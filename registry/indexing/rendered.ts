/** What makers give for some entries, put together from one text for each record. */

import type { Rendered } from '../index-maker.js'

/** Texts that stand one behind the other, in that encoding. */
export function rendered(records: readonly string[], encoding: BufferEncoding = 'utf8'): Rendered {
  return { content: Buffer.from(records.join(''), encoding), count: records.length }
}
