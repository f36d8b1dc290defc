/**
 * Leases on answers that are being made, by which gateways with one data folder share them.
 *
 * A lease is a symbolic link `KEY.lease` to the file that its leader writes. The leader renews it
 * until the answer is complete or has failed. Followers give the file a name of their own, a hard
 * link, so that the leader can count them. A complete answer is read-only.
 *
 * Leases only save work: each answer is written under a name that no other gateway uses, so two
 * leaders of one key do no harm.
 */

import {
  fchmodSync,
  fstatSync,
  linkSync,
  lstatSync,
  lutimesSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const RENEWAL_MS = 500
/** Time without a renewal after which a leader counts as dead, by the follower's own clock. */
const EXPIRY_MS = 5_000
const POLL_MS = 10

const WRITABLE = 0o200
const COMPLETE_MODE = 0o440

/**
 * Takes the lease for the answer whose file is `path`, and renews it. Returns a function that
 * releases it; undefined if another gateway has it, or if the disk has no room or no symbolic
 * links.
 */
export function takeLease(path: string): (() => void) | undefined {
  try {
    symlinkSync(basename(path), leaseOf(path))
  } catch {
    return undefined
  }
  const renewal = setInterval(() => renewLease(path), RENEWAL_MS).unref()
  return () => {
    clearInterval(renewal)
    releaseLease(path)
  }
}

/** Releases the lease of the answer at `path`, unless another answer has it by now. */
export function releaseLease(path: string): void {
  endLease(path, basename(path))
}

/**
 * Gives the answer of the leader with the lease also the name `path`. Returns the leader's name of
 * the file; undefined if there is no lease, or no hard links.
 */
export function followLease(path: string): string | undefined {
  const leading = leaderOf(path)
  if (leading === undefined) return undefined
  try {
    linkSync(join(dirname(path), leading), path)
    return leading
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (isMissing) endLease(path, leading)
    return undefined
  }
}

/**
 * Waits until the leader's answer is complete. Returns its length; undefined if the leader failed
 * or died, or if the signal aborts. `path` and `file` are the follower's name of the file and its
 * descriptor.
 */
export async function untilComplete(
  { path, file }: { readonly path: string; readonly file: number },
  leading: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  let renewal: bigint | undefined
  let renewedAtMs = performance.now()
  while (!signal.aborted) {
    // Before the state of the file, which is final when the lease is released.
    const latest = renewalOf(path, leading)
    const { mode, size } = fstatSync(file)
    if ((mode & WRITABLE) === 0) return size
    if (latest === undefined) return undefined
    if (latest !== renewal) {
      renewal = latest
      renewedAtMs = performance.now()
    } else if (performance.now() - renewedAtMs > EXPIRY_MS) {
      endLease(path, leading)
      return undefined
    }
    await sleep(POLL_MS)
  }
  return undefined
}

/** Marks the answer in an open file as complete, for followers in other gateways. */
export function markComplete(file: number): void {
  fchmodSync(file, COMPLETE_MODE)
}

/** Returns true if other gateways follow the answer in an open file, which its leader writes. */
export function isFollowed(file: number): boolean {
  return fstatSync(file).nlink > 1
}

function leaseOf(path: string): string {
  const [key] = basename(path).split('.')
  return join(dirname(path), `${key}.lease`)
}

/** Returns the leader's name of its file; undefined if there is no lease. */
function leaderOf(path: string): string | undefined {
  try {
    return basename(readlinkSync(leaseOf(path)))
  } catch {
    return undefined
  }
}

function renewLease(path: string): void {
  if (leaderOf(path) !== basename(path)) return
  const nowSeconds = Date.now() / 1_000
  try {
    lutimesSync(leaseOf(path), nowSeconds, nowSeconds)
  } catch {
    // Without renewals, followers make the answer themselves.
  }
}

/**
 * Returns a value that each renewal changes: the time at which the file system last changed the
 * lease. Times are compared for equality only, because the clocks of machines differ.
 */
function renewalOf(path: string, leading: string): bigint | undefined {
  if (leaderOf(path) !== leading) return undefined
  return lstatSync(leaseOf(path), { bigint: true, throwIfNoEntry: false })?.ctimeNs
}

function endLease(path: string, leading: string): void {
  if (leaderOf(path) !== leading) return
  try {
    unlinkSync(leaseOf(path))
  } catch {
    // It has been removed in the meantime, or expires.
  }
}
