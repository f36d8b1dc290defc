/** Rows of package files for tests, of any format and without stored bytes. */

import { createHash, randomUUID } from 'node:crypto'
import type { Digests } from '../../conf/package.js'
import type { Database } from '../../sql/database/database.js'
import type { PackageNamespace } from '../../sql/packages/packages.js'
import { type NewPublication, publishFile } from '../../sql/packages/publications.js'

export interface PublicationInputs extends Partial<NewPublication> {
  /** Owner; also the creator, unless `creatorId` is given. */
  readonly ownerId: number
  readonly format?: string
  /** Content, from which size and digests are computed. */
  readonly text?: string
}

/** Publishes a file, `tool` 1.0 with `tool.bin` by default. Returns the key of its blob. */
export async function aPublication(
  db: Database,
  { ownerId, format = 'generic', text = 'bytes', ...inputs }: PublicationInputs,
): Promise<string> {
  const publication: NewPublication = {
    packageName: 'tool',
    version: '1.0',
    fileName: 'tool.bin',
    compositeKey: '',
    isExactName: false,
    unique: 'file',
    metadata: {},
    properties: [],
    indexes: [],
    creatorId: ownerId,
    quota: undefined,
    ...inputs,
  }
  const digests = digestsOf(text)
  const key = `${digests.sha256}-${randomUUID().slice(0, 16)}`
  const blob = { key, bytes: Buffer.byteLength(text), digests }
  return await publishFile(db, { ownerId, format }, { publication, blob })
}

/** Computes the digests of a text. */
export function digestsOf(text: string): Digests {
  const digest = (algorithm: string) => createHash(algorithm).update(text).digest('hex')
  return {
    md5: digest('md5'),
    sha1: digest('sha1'),
    sha256: digest('sha256'),
    sha512: digest('sha512'),
  }
}

/** Returns the namespace of an owner's packages, by default generic ones. */
export function namespaceOf(ownerId: number, format = 'generic'): PackageNamespace {
  return { ownerId, format }
}
