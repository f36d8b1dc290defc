/** The storage that the settings name, ready for use. */

import { join } from 'node:path'
import type { Settings } from '../../conf/settings.js'
import { openFileStorage } from './files.js'
import type { BlobStorage } from './storage.js'

/** Makes the folders that it needs; throws when it cannot. A server is not asked yet. */
export async function openStorage({ blobs, data }: Settings): Promise<BlobStorage> {
  const { location, isRedirected } = blobs
  if (location.kind === 'files') return await openFileStorage(location.folder)
  // Loaded where it is wanted, as what keeps files has no use for its library.
  const { openS3Storage } = await import('./s3.js')
  return await openS3Storage({ location, isRedirected, incomingFolder: join(data.dir, 'uploads') })
}
