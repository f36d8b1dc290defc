/** Rate limits of failed sign-ins, so that guessing is slow, and of new accounts. */

import { RateLimiterCluster, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { Failure } from '../../conf/failures.js'
import { networkOf } from '../http/client-address.js'
import type { SharedFailures } from './shared-failures.js'

export interface SignInAttempt {
  /** The account's name as given. */
  readonly name: string
  readonly address: string
}

export interface Throttle {
  /** Throws `throttled` if too many attempts have failed. */
  check(attempt: SignInAttempt): Promise<void>
  failed(attempt: SignInAttempt): Promise<void>
  /**
   * Runs `verify`, which throws if the attempt fails. The attempt counts as failed until `verify`
   * returns, so that concurrent attempts cannot exceed the limit. Throws `throttled` if this
   * attempt exceeds it.
   */
  attempt<T>(attempt: SignInAttempt, verify: () => Promise<T>): Promise<T>
  succeeded(attempt: SignInAttempt): Promise<void>
  /** Counts an attempt to create an account. Throws `throttled` after too many from one network. */
  makeAccount(address: string): Promise<void>
}

const MINUTE_S = 60
const HOUR_S = 3_600
const DAY_S = 86_400

/** Failures of one network, for all accounts together. */
const BY_ADDRESS = { keyPrefix: 'address', points: 30, duration: 15 * MINUTE_S }
/** Failures of one network for one account. */
const BY_PAIR = { keyPrefix: 'pair', points: 10, duration: 15 * MINUTE_S }
/** Failures of all unknown networks together for one account; known ones are not affected. */
const BY_ACCOUNT = { keyPrefix: 'account', points: 100, duration: HOUR_S }
/** Networks from which an account has signed in; Node's timers cannot run for 25 days. */
const KNOWN = { keyPrefix: 'known', points: Number.MAX_SAFE_INTEGER, duration: 24 * DAY_S }

/** Attempts of one network to create an account, including the first account of the server. */
const NEW_ACCOUNTS = { keyPrefix: 'new-account', points: 20, duration: HOUR_S }

interface LimiterOptions {
  readonly keyPrefix: string
  readonly points: number
  readonly duration: number
}

type Limiter = LimiterOptions & Pick<RateLimiterMemory, 'get' | 'penalty' | 'reward' | 'block'>

type LimitedKey = readonly [Limiter, string]

/** Creates a throttle whose counters are in the supervisor and shared by all workers. */
export function createSharedThrottle(failures: SharedFailures): Throttle {
  const timeoutMs = 2_000
  return createThrottle(failures, (options) => new RateLimiterCluster({ ...options, timeoutMs }))
}

/** Creates a throttle with counters of this process, and of others if it gets their failures. */
export function createLocalThrottle(failures: SharedFailures = { add() {} }): Throttle {
  return createThrottle(failures, (options) => new RateLimiterMemory(options))
}

function createThrottle(
  failures: SharedFailures,
  createLimiter: (options: LimiterOptions) => Limiter,
): Throttle {
  const byAddress = createLimiter(BY_ADDRESS)
  const byPair = createLimiter(BY_PAIR)
  const byAccount = createLimiter(BY_ACCOUNT)
  const known = createLimiter(KNOWN)
  const limitersOf = async (attempt: SignInAttempt): Promise<readonly LimitedKey[]> => {
    const { address, account, pair } = keysOf(attempt)
    const always: readonly LimitedKey[] = [
      [byAddress, address],
      [byPair, pair],
    ]
    return (await known.get(pair)) === null ? [...always, [byAccount, account]] : always
  }
  const newAccounts = createLimiter(NEW_ACCOUNTS)
  const share = (keys: readonly LimitedKey[]) => {
    for (const [limiter, key] of keys) failures.add(limiter, key)
  }
  return {
    async check(attempt) {
      for (const [limiter, key] of await limitersOf(attempt)) {
        refuseSpent(await limiter.get(key), limiter.points - 1)
      }
    },
    async failed(attempt) {
      const limiters = await limitersOf(attempt)
      for (const [limiter, key] of limiters) await limiter.penalty(key)
      share(limiters)
    },
    async attempt(attempt, verify) {
      const limiters = await limitersOf(attempt)
      for (const [limiter, key] of limiters) {
        refuseSpent(await limiter.penalty(key), limiter.points)
      }
      const result = await verify().catch((error: unknown) => {
        share(limiters)
        throw error
      })
      for (const [limiter, key] of limiters) await limiter.reward(key)
      return result
    },
    async succeeded(attempt) {
      const { pair } = keysOf(attempt)
      if ((await known.get(pair)) === null) await known.penalty(pair)
    },
    async makeAccount(address) {
      const network = networkOf(address)
      const count = await newAccounts.penalty(network)
      refuseSpent(
        count,
        newAccounts.points,
        'Too many attempts from your network. Wait, and try again.',
      )
      share([[newAccounts, network]])
    },
  }
}

function refuseSpent(
  count: RateLimiterRes | null,
  pointsMax: number,
  message = 'Too many failed sign-ins. Wait, or use an access token.',
): void {
  if (count === null || count.consumedPoints <= pointsMax) return
  throw new Failure('throttled', message, {
    retryAfterSeconds: Math.ceil(count.msBeforeNext / 1_000),
  })
}

function keysOf(attempt: SignInAttempt): { address: string; account: string; pair: string } {
  const address = networkOf(attempt.address)
  const account = attempt.name.toLowerCase().slice(0, 254)
  return { address, account, pair: `${address} ${account}` }
}
