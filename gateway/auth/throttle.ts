/** Rate limits of failed sign-ins, so that guessing is slow, and of new accounts. */

import { RateLimiterCluster, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { Failure } from '../../conf/failures.js'
import { networkOf } from '../http/client-address.js'

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

type Limiter = Pick<RateLimiterMemory, 'get' | 'penalty' | 'reward' | 'points'>
/** Attempts of one network to create an account, including the first account of the server. */
const NEW_ACCOUNTS = { keyPrefix: 'new-account', points: 20, duration: HOUR_S }

interface LimiterOptions {
  readonly keyPrefix: string
  readonly points: number
  readonly duration: number
}

/** Creates a throttle whose counters are in the supervisor and shared by all workers. */
export function createSharedThrottle(): Throttle {
  return createThrottle((options) => new RateLimiterCluster({ ...options, timeoutMs: 2_000 }))
}

/** Creates a throttle with counters of this process alone. */
export function createLocalThrottle(): Throttle {
  return createThrottle((options) => new RateLimiterMemory(options))
}

function createThrottle(createLimiter: (options: LimiterOptions) => Limiter): Throttle {
  const byAddress = createLimiter(BY_ADDRESS)
  const byPair = createLimiter(BY_PAIR)
  const byAccount = createLimiter(BY_ACCOUNT)
  const known = createLimiter(KNOWN)
  const limitersOf = async (attempt: SignInAttempt) => {
    const { address, account, pair } = keysOf(attempt)
    const always = [[byAddress, address] as const, [byPair, pair] as const]
    return (await known.get(pair)) === null ? [...always, [byAccount, account] as const] : always
  }
  const newAccounts = createLimiter(NEW_ACCOUNTS)
  return {
    async check(attempt) {
      for (const [limiter, key] of await limitersOf(attempt)) {
        refuseSpent(await limiter.get(key), limiter.points - 1)
      }
    },
    async failed(attempt) {
      for (const [limiter, key] of await limitersOf(attempt)) await limiter.penalty(key)
    },
    async attempt(attempt, verify) {
      const limiters = await limitersOf(attempt)
      for (const [limiter, key] of limiters) {
        refuseSpent(await limiter.penalty(key), limiter.points)
      }
      const result = await verify()
      for (const [limiter, key] of limiters) await limiter.reward(key)
      return result
    },
    async succeeded(attempt) {
      const { pair } = keysOf(attempt)
      if ((await known.get(pair)) === null) await known.penalty(pair)
    },
    async makeAccount(address) {
      const count = await newAccounts.penalty(networkOf(address))
      refuseSpent(
        count,
        newAccounts.points,
        'Too many attempts from your network. Wait, and try again.',
      )
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
