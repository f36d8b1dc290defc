/** Compares the database of a site with its stored data, beside a running gateway. */

import { setTimeout as sleep } from 'node:timers/promises'
import { checkBlobs } from './blobs.js'
import { checkDatabase } from './database.js'
import {
  CHECK_CODES,
  type Check,
  type CheckCode,
  type CheckContext,
  type CheckScope,
  type Finding,
  type Suspicion,
} from './finding.js'
import { checkLeftovers } from './leftovers.js'
import { checkNamedObjects, checkPullHeads } from './named-objects.js'
import { checkPackageFiles } from './package-files.js'
import { checkPackageIndexes } from './package-indexes.js'
import { Progress } from './progress.js'
import { checkReferences } from './references.js'
import { checkRepositoryFolders } from './repository-folders.js'
import { checkMarkers } from './repository-markers.js'
import { checkSizes } from './repository-sizes.js'
import { checkSealedValues } from './sealed-values.js'

export interface CheckOptions extends Partial<Omit<CheckScope, 'cursor'>> {
  /** Codes of the checks that run; by default all. */
  readonly codes?: ReadonlySet<CheckCode>
  /** True to end differences whose end loses no data. */
  readonly repairs?: boolean
  /** Time until a difference is read again; by default two seconds. */
  readonly settleMs?: number
  /** Time after which differences are reported and the progress saved; by default 10 seconds. */
  readonly reportMs?: number
  /** Progress of the run, which may continue an earlier one. */
  readonly progress?: Progress
}

const CHECKS: Readonly<Record<CheckCode, Check>> = {
  D1: checkDatabase,
  R1: checkRepositoryFolders,
  R2: checkReferences,
  R3: checkSizes,
  R4: checkMarkers,
  P1: checkPullHeads,
  P2: checkNamedObjects,
  K1: checkPackageFiles,
  B1: checkBlobs,
  I1: checkPackageIndexes,
  S1: checkSealedValues,
  C1: checkLeftovers,
}

/** Time after which the difference that a request causes while it runs has usually ended. */
const SETTLE_MS = 2_000

/** Time after which the differences so far are reported, and the progress is saved. */
const REPORT_MS = 10_000

/** Number of differences that are kept in memory and read again together. */
const BATCH = 1_000

/** A finding, and whether the check has ended it. */
export interface SiteFinding extends Finding {
  readonly isRepaired: boolean
}

/**
 * Yields the differences that exist on two reads, `settleMs` apart. Changes nothing without
 * `repairs`. Throws if the database or the storage of the blobs does not answer.
 */
export async function* checkSite(
  context: CheckContext,
  options: CheckOptions = {},
): AsyncGenerator<SiteFinding> {
  const { isDeep = false, repairs = false, repositories, settleMs = SETTLE_MS } = options
  const { codes = new Set(CHECK_CODES), progress = new Progress(), reportMs = REPORT_MS } = options
  let batch: Suspicion[] = []
  let reportedAtMs = performance.now()
  const report = async function* () {
    yield* confirm(batch, { settleMs, repairs })
    batch = []
    reportedAtMs = performance.now()
    await progress.save()
  }
  for (const code of CHECK_CODES.filter((each) => codes.has(each))) {
    if (progress.isDone(code, CHECK_CODES)) continue
    const cursor = progress.begin(code)
    for await (const step of CHECKS[code](context, { isDeep, repositories, cursor })) {
      if (step !== undefined) batch.push(step)
      const isPageEnd = step === undefined && performance.now() - reportedAtMs >= reportMs
      if (isPageEnd || batch.length >= BATCH) yield* report()
    }
  }
  yield* report()
}

async function* confirm(
  suspicions: readonly Suspicion[],
  { settleMs, repairs }: { readonly settleMs: number; readonly repairs: boolean },
): AsyncGenerator<SiteFinding> {
  if (suspicions.length === 0) return
  await sleep(settleMs)
  const confirmed: Suspicion[] = []
  for (const suspicion of suspicions) if (await suspicion.persists()) confirmed.push(suspicion)
  for (const { finding, persists, repair } of confirmed) {
    const isRepairable = repairs && repair !== undefined
    // Differences may have ended by the repair of another one.
    if (isRepairable && (await persists())) await repair()
    yield { ...finding, isRepaired: isRepairable && !(await persists()) }
  }
}
