/** The storage that the settings name, ready for use. */

import { join } from 'node:path'
import type { Settings } from '../../conf/settings.js'
import { openFileStorage } from './files.js'
import { openS3Storage } from './s3.js'
import type { BlobStorage } from './storage.js'

/** Makes the folders that it needs; throws when it cannot. A server is not asked yet. */
export function openStorage({ blobs, data }: Settings): Promise<BlobStorage> {
  const { location, isRedirected } = blobs
  if (location.kind === 'files') return openFileStorage(location.folder)
  return openS3Storage({ location, isRedirected, incomingFolder: join(data.dir, 'uploads') })
}
