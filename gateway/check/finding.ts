/** Findings of the consistency checks, and the type of a check. */

import type { Settings } from '../../conf/settings.js'
import type { BlobStorage } from '../../registry/storage/storage.js'
import type { Database } from '../../sql/database/database.js'
import type { Repository } from '../../sql/repositories/repositories.js'

/** Codes of the checks: R1 for the folders of repositories, B1 for the bytes of blobs. */
export const CHECK_CODES = ['R1', 'B1'] as const

export type CheckCode = (typeof CHECK_CODES)[number]

/** A difference between the database and the stored data. Texts are sentences without a period. */
export interface Finding {
  readonly code: CheckCode
  /** Name of the affected thing, such as `ada/library` or the key of a blob. */
  readonly subject: string
  readonly problem: string
  readonly remedy: string
}

/** A difference that may be the effect of a concurrent request. */
export interface Suspicion {
  readonly finding: Finding
  /** Reads rows and files again. Returns true if the difference still exists. */
  readonly persists: () => Promise<boolean>
}

/** Access to the data of a site, which checks only read. */
export interface CheckContext {
  readonly db: Database
  readonly storage: BlobStorage
  readonly settings: Pick<Settings, 'data'>
}

export interface CheckScope {
  /** Reads the content of blobs too, and compares their digests. */
  readonly isDeep: boolean
  /** Repositories to check, without everything else; undefined for the whole site. */
  readonly repositories: readonly Repository[] | undefined
}

/** Yields the differences of one kind. Throws if the database or the storage does not answer. */
export type Check = (context: CheckContext, scope: CheckScope) => AsyncIterable<Suspicion>
