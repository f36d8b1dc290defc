/** Index entries for tests that do not need their files. */

import type { JsonObject } from '../../conf/package.js'
import type { IndexEntry } from '../../registry/index-maker.js'

export interface EntryOptions {
  readonly part?: string
  readonly packageName?: string
  readonly version?: string
  readonly bytes?: number
  readonly metadata?: JsonObject
}

/** Returns an entry whose file does not exist. */
export function indexEntry(options: EntryOptions = {}): IndexEntry {
  const { part = 'x86_64', packageName = 'hello', version = '1.0-r0' } = options
  const digests = { md5: '', sha1: '', sha256: '', sha512: '' }
  return {
    part,
    packageName,
    version,
    metadata: options.metadata ?? { C: 'Q1x=' },
    file: {
      id: 1,
      name: `${packageName}-${version}.apk`,
      compositeKey: '',
      blobKey: '',
      digests,
      bytes: options.bytes ?? 1,
      createdAtMs: 0,
      downloads: 0,
    },
  }
}
