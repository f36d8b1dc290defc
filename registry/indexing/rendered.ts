/** Construction of an index maker's output from the texts of its records. */

import type { Rendered } from '../index-maker.js'

/** Concatenates the texts of records in an encoding. */
export function rendered(records: readonly string[], encoding: BufferEncoding = 'utf8'): Rendered {
  return { content: Buffer.from(records.join(''), encoding), count: records.length }
}
