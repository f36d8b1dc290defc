/** Opens the blob storage of the settings. */

import { join } from 'node:path'
import type { Settings } from '../../conf/settings.js'
import { openFileStorage } from './files.js'
import type { BlobStorage } from './storage.js'

/** Opens the storage. Throws if its folders cannot be created. Does not connect to a server yet. */
export async function openStorage({ blobs, data }: Settings): Promise<BlobStorage> {
  const { location, isRedirected } = blobs
  if (location.kind === 'files') return await openFileStorage(location.folder)
  // Loaded only if needed, because file storage does not use the library.
  const { openS3Storage } = await import('./s3.js')
  return await openS3Storage({ location, isRedirected, incomingFolder: join(data.dir, 'uploads') })
}
