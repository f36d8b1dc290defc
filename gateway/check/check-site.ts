/** Compares the database of a site with its repositories and blobs, beside a running gateway. */

import { setTimeout as sleep } from 'node:timers/promises'
import { checkBlobs } from './blobs.js'
import {
  CHECK_CODES,
  type Check,
  type CheckCode,
  type CheckContext,
  type CheckScope,
  type Finding,
  type Suspicion,
} from './finding.js'
import { checkRepositoryFolders } from './repository-folders.js'

export interface CheckOptions extends Partial<CheckScope> {
  /** Codes of the checks that run; by default all. */
  readonly codes?: ReadonlySet<CheckCode>
  /** Time until a difference is read again; by default two seconds. */
  readonly settleMs?: number
}

const CHECKS: Readonly<Record<CheckCode, Check>> = { R1: checkRepositoryFolders, B1: checkBlobs }

/** Time after which the difference that a request causes while it runs has usually ended. */
const SETTLE_MS = 2_000

/** Number of differences that are kept in memory and read again together. */
const BATCH = 1_000

/**
 * Yields the differences that exist on two reads, `settleMs` apart. Changes nothing. Throws if the
 * database or the storage of the blobs does not answer.
 */
export async function* checkSite(
  context: CheckContext,
  options: CheckOptions = {},
): AsyncGenerator<Finding> {
  const { isDeep = false, repositories, settleMs = SETTLE_MS } = options
  const { codes = new Set(CHECK_CODES) } = options
  let batch: Suspicion[] = []
  for (const code of CHECK_CODES.filter((each) => codes.has(each))) {
    for await (const suspicion of CHECKS[code](context, { isDeep, repositories })) {
      batch.push(suspicion)
      if (batch.length < BATCH) continue
      yield* confirm(batch, settleMs)
      batch = []
    }
  }
  yield* confirm(batch, settleMs)
}

async function* confirm(
  suspicions: readonly Suspicion[],
  settleMs: number,
): AsyncGenerator<Finding> {
  if (suspicions.length === 0) return
  await sleep(settleMs)
  for (const { finding, persists } of suspicions) if (await persists()) yield finding
}
