/** The gzip member of APKINDEX.tar.gz that contains the index; the signatures come before it. */

import { gzipText } from '../archive/gzip-file.js'
import { TAR_END, tarHeader, tarPadding } from '../archive/tar-header.js'
import type { FileContent, IndexText } from '../index-maker.js'

/** Returns the member, a complete tar archive of one file with the records. */
export function indexArchive(records: IndexText): FileContent {
  const end = Buffer.concat([tarPadding(records.bytes), TAR_END])
  return gzipText([tarHeader('APKINDEX', records.bytes), records, end])
}
