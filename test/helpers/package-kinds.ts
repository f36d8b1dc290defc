/** Kinds of servers with packages, which differ in their database and their storage. */

import { t as root } from 'tap'
import { freshLocation } from './databases.js'
import { sharedS3Server } from './shared-s3-server.js'
import { isFullSize } from './test-size.js'

export interface PackageKind {
  readonly database: 'sqlite' | 'mysql'
  readonly workers: number
  readonly isS3?: true
}

// threats/index-under-fire has several workers on both databases.
const WORKERS = isFullSize ? 2 : 1

export const PACKAGE_KINDS = {
  'SQLite and files': { database: 'sqlite', workers: 1 },
  'MariaDB and S3': { database: 'mysql', workers: WORKERS, isS3: true },
} as const satisfies Readonly<Record<string, PackageKind>>

/** Creates a database and, with S3, a bucket; returns the options of a server that uses them. */
export async function optionsOfKind({ database, isS3 }: PackageKind, isRedirected: boolean) {
  const bucket = isS3 ? await (await sharedS3Server()).createBucket() : undefined
  return {
    location: await freshLocation(root, database),
    environment: {
      ...(bucket === undefined ? {} : { GATEHOUSE_BLOBS_URL: bucket }),
      GATEHOUSE_BLOBS_REDIRECT: String(isRedirected),
      // A key of the default type takes half a second; aptly, whose test uses S3, needs it.
      ...(isS3 || isFullSize ? {} : { GATEHOUSE_PACKAGES_DEBIAN_SIGNING_KEY: 'ed25519' }),
    },
  }
}
