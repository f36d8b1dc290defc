/**
 * Failed attempts that all gateways of a database count together. Each worker adds its own to the
 * database in batches, and blocks the keys whose total has reached the limit. Nothing waits for
 * that, and without the database each gateway still counts its own.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { openInstanceSecret } from '../../conf/instance-secret.js'
import type { Log } from '../../conf/log.js'
import {
  addFailedAttempts,
  countFailedKeys,
  removeEndedAttempts,
} from '../../sql/accounts/failed-attempts.js'
import type { Database } from '../../sql/database/database.js'

/** Limiter of one gateway: `points` failures within `duration` seconds. */
export interface BlockingLimiter {
  readonly keyPrefix: string
  readonly points: number
  readonly duration: number
  block(key: string, seconds: number): Promise<unknown>
}

export interface SharedFailures {
  /** Adds a failure that the limiter has counted. Returns before it is stored. */
  add(limiter: BlockingLimiter, key: string): void
}

export interface SharedFailuresOptions {
  readonly db: Database
  readonly log: Log
  /** Folder of the secret with which keys are hashed. */
  readonly dataDir: string
}

interface KeyFailures {
  readonly limiter: BlockingLimiter
  readonly key: string
  readonly failures: number
}

const BATCH_MS = 100
/** Maximum number of keys in a batch. Failures of further keys count in this gateway only. */
const BATCH_KEYS_MAX = 300

/** Number of stored keys from which on failures count in this gateway only. */
const STORED_KEYS_MAX = 100_000
const SWEEP_MS = 60_000

/** Opens the failures of a worker. They must be stopped before the database is closed. */
export function openSharedFailures(
  options: SharedFailuresOptions,
): SharedFailures & { stop(): Promise<void> } {
  const { db, log } = options
  let batch = new Map<string, KeyFailures>()
  let writing: Promise<void> | undefined
  let keysLeft = STORED_KEYS_MAX
  let sweepAtMs = 0

  async function writeBatches(): Promise<void> {
    while (batch.size > 0) {
      await sleep(BATCH_MS)
      const taken = batch
      batch = new Map()
      try {
        await sweepIfDue()
        if (keysLeft > 0) await writeBatch(options, taken)
        keysLeft -= taken.size
      } catch (error) {
        const message = 'failed attempts were not counted with those of other gateways'
        log.warn({ error, keys: taken.size }, message)
      }
    }
    writing = undefined
  }

  async function sweepIfDue(): Promise<void> {
    const nowMs = Date.now()
    if (nowMs < sweepAtMs) return
    sweepAtMs = nowMs + SWEEP_MS
    await removeEndedAttempts(db, nowMs)
    keysLeft = STORED_KEYS_MAX - (await countFailedKeys(db))
  }

  return {
    add(limiter, key) {
      const name = `${limiter.keyPrefix} ${key}`
      const failures = (batch.get(name)?.failures ?? 0) + 1
      if (failures === 1 && batch.size >= BATCH_KEYS_MAX) return
      batch.set(name, { limiter, key, failures })
      writing ??= writeBatches()
    },
    async stop() {
      await writing
    },
  }
}

/** Words that derive the key of the hash; see `InstanceSecret`. */
const HASH_WORDS = 'failed attempts'

/** Stores failures by the hash of their key, and blocks the keys that have reached their limit. */
async function writeBatch(
  { db, dataDir }: SharedFailuresOptions,
  batch: ReadonlyMap<string, KeyFailures>,
): Promise<void> {
  const secret = await openInstanceSecret(dataDir)
  const byHash = new Map(
    [...batch].map(([name, each]) => [secret.sign(name, HASH_WORDS).toString('hex'), each]),
  )
  const nowMs = Date.now()
  const added = [...byHash].map(([keyHash, { failures, limiter }]) => {
    return { keyHash, failures, endsAtMs: nowMs + limiter.duration * 1_000 }
  })
  for (const { keyHash, failures, endsAtMs } of await addFailedAttempts(db, added, nowMs)) {
    const known = byHash.get(keyHash)
    if (known === undefined || failures < known.limiter.points) continue
    const { limiter, key } = known
    // The clock of the gateway that stored the end may differ from this one.
    const seconds = Math.min(limiter.duration, Math.ceil((endsAtMs - nowMs) / 1_000))
    await limiter.block(key, seconds)
  }
}
