/** Publishing a package file: stores its bytes, then adds all its rows in one transaction. */

import { Failure } from '../conf/failures.js'
import type { Database } from '../sql/database/database.js'
import type { Quota } from '../sql/packages/owner-settings.js'
import { findFile } from '../sql/packages/package-files.js'
import { findVersion } from '../sql/packages/package-versions.js'
import { findPackage, type PackageNamespace } from '../sql/packages/packages.js'
import {
  FILE_EXISTS,
  type NewPublication,
  publishFile,
  VERSION_EXISTS,
} from '../sql/packages/publications.js'
import { storeBlob } from './keep-blob.js'
import type { Publication } from './package-store.js'
import type { ReceivedFile } from './received-file.js'
import type { BlobStorage } from './storage/storage.js'

export interface Publisher {
  readonly db: Database
  readonly storage: BlobStorage
  readonly namespace: PackageNamespace
  readonly userId: number
  /** Repository of the job that publishes; absent for users. */
  readonly repositoryId?: number | undefined
  /** Quota of owners without one of their own; undefined if no quota applies to the publisher. */
  readonly quota: Quota | undefined
}

const NAME_CHARACTERS_MAX = 255
const PROPERTY_CHARACTERS_MAX = 500

/** Publishes a received file; see `PackageStore.publish`. */
export async function publishReceived(
  publisher: Publisher,
  file: ReceivedFile,
  given: Publication,
): Promise<void> {
  const publication = checkPublication(publisher, given)
  await refuseKnown(publisher, publication)
  const { storage, db, namespace } = publisher
  await storeBlob(storage, file, async (blob) => ({
    blobKey: await publishFile(db, namespace, { publication, blob }),
  }))
}

function checkPublication(publisher: Publisher, given: Publication): NewPublication {
  const { packageName, version, fileName, compositeKey = '' } = given
  for (const [what, text] of Object.entries({ packageName, version, fileName, compositeKey })) {
    if (text.length > NAME_CHARACTERS_MAX) {
      const word = WORDS[what] ?? what
      throw new Failure('bad_request', `${word} is longer than ${NAME_CHARACTERS_MAX} characters`)
    }
  }
  const {
    metadata = {},
    readme,
    properties = [],
    indexes = [],
    isExactName = false,
    unique,
  } = given
  if (properties.some(({ value }) => value.length > PROPERTY_CHARACTERS_MAX)) {
    const limit = `${PROPERTY_CHARACTERS_MAX} characters`
    throw new Failure('bad_request', `a value in the package's metadata is longer than ${limit}`)
  }
  return {
    packageName,
    version,
    fileName,
    compositeKey,
    unique,
    metadata,
    readme,
    properties,
    indexes,
    isExactName,
    creatorId: publisher.userId,
    repositoryId: publisher.repositoryId,
    quota: publisher.quota,
  }
}

const WORDS: Readonly<Record<string, string>> = {
  packageName: 'the package name',
  version: 'the package version',
  fileName: 'the file name',
  compositeKey: 'the location of the file in the repository',
}

/**
 * Throws `conflict` for an existing version or file before the bytes are stored. The database
 * detects concurrent uploads of the same file.
 */
async function refuseKnown(
  { db, namespace }: Publisher,
  publication: NewPublication,
): Promise<void> {
  if (publication.unique === 'file') {
    const known = await findFile(db, namespace, publication)
    if (known !== undefined) throw new Failure('conflict', FILE_EXISTS)
    return
  }
  const found = await findPackage(db, namespace, publication.packageName)
  const known = found && (await findVersion(db, found.id, publication.version))
  if (known !== undefined) throw new Failure('conflict', VERSION_EXISTS)
}
