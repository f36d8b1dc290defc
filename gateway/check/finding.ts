/** Findings of the consistency checks, and the type of a check. */

import type { Git } from '../../cgi/process/git.js'
import { CRASH_GRACE_MS } from '../../conf/lib/disk.js'
import type { Settings } from '../../conf/settings.js'
import type { BlobStorage } from '../../registry/storage/storage.js'
import type { Database } from '../../sql/database/database.js'
import type { Repository } from '../../sql/repositories/repositories.js'

/**
 * Codes of the checks. D1: database. R1 to R4: folders, refs, sizes and markers of repositories.
 * P1: heads of pull requests. P2: tags, rules and commits that rows name. K1: package files. B1:
 * bytes of blobs. I1: package indexes. S1: sealed values. C1: leftovers of crashes.
 */
export const CHECK_CODES = [
  'D1',
  'R1',
  'R2',
  'R3',
  'R4',
  'P1',
  'P2',
  'K1',
  'B1',
  'I1',
  'S1',
  'C1',
] as const

export type CheckCode = (typeof CHECK_CODES)[number]

/** Age from which leftovers are a finding: the daily sweep has missed them. */
export const UNSWEPT_MS = 86_400_000 + CRASH_GRACE_MS

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
  /** Ends the difference without loss of data; absent if only a person can decide. */
  readonly repair?: () => Promise<void>
}

/** Access to the data of a site, which checks only read. */
export interface CheckContext {
  readonly db: Database
  readonly storage: BlobStorage
  readonly settings: Settings
  readonly git: Git
}

export interface CheckScope {
  /** Reads also the content of blobs and repositories, and makes indexes anew to compare them. */
  readonly isDeep: boolean
  /** Repositories to check, without everything else; undefined for the whole site. */
  readonly repositories: readonly Repository[] | undefined
  readonly cursor: Cursor
}

/** Position in the lists of a check, after which a later run continues. */
export interface Cursor {
  /** Returns the id after which the rows of a list are to be examined. */
  after(list: string): number
  /** Notes that the rows of a list up to this id were examined. */
  note(list: string, id: number): void
}

/** A difference, or undefined after a page of rows, when the cursor has moved. */
export type CheckStep = Suspicion | undefined

/** Yields the differences of one kind. Throws if the database or the storage does not answer. */
export type Check = (context: CheckContext, scope: CheckScope) => AsyncIterable<CheckStep>
