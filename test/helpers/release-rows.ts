/** Rows of releases, and blobs for their attachments. */

import { createHash } from 'node:crypto'
import type { Database } from '../../sql/database/database.js'
import type { NewBlob } from '../../sql/packages/blobs.js'
import { createRelease, type Release } from '../../sql/releases/releases.js'
import type { Repository } from '../../sql/repositories/repositories.js'

/** Creates a release of the repository by its owner. */
export async function aRelease(
  db: Database,
  repository: Repository,
  tagName: string,
  changes: { readonly isDraft?: boolean } = {},
): Promise<Release> {
  return await createRelease(db, {
    repositoryId: repository.id,
    tagName,
    target: 'main',
    title: '',
    body: '',
    tagMessage: '',
    isDraft: false,
    isPrerelease: false,
    authorId: repository.owner.id,
    ...changes,
  })
}

/** Returns the row of a blob with the size and digests of a text; no bytes are stored. */
export function aBlobOf(text: string, key = `key of ${text}`): NewBlob {
  const digest = (name: string) => createHash(name).update(text).digest('hex')
  const digests = {
    md5: digest('md5'),
    sha1: digest('sha1'),
    sha256: digest('sha256'),
    sha512: digest('sha512'),
  }
  return { key, bytes: Buffer.byteLength(text), digests }
}
