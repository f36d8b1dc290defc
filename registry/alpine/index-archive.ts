/** An APKINDEX.tar.gz: a gzip member with signatures, and the one with the index that they sign. */

import { gzipText } from '../archive/gzip-file.js'
import { TAR_END, tarHeader, tarPadding } from '../archive/tar-header.js'
import type { FileContent, IndexText } from '../index-maker.js'

/** The member that holds the records. */
export function indexArchive(records: IndexText): FileContent {
  const end = Buffer.concat([tarPadding(records.bytes), TAR_END])
  return gzipText([tarHeader('APKINDEX', records.bytes), records, end])
}
