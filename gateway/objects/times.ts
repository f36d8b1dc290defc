/** Times as this API formats them: RFC 3339, whole seconds, UTC. */

import { Failure } from '../../conf/failures.js'

/** Formats a time in milliseconds since 1970. */
export function apiTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`
}

/** Unset value of a field that Gitea stores as Unix seconds; clients read it as never. */
export const NEVER = '1970-01-01T00:00:00Z'

/** Unset value of a field that Gitea does not store: the zero time of Go. */
export const ZERO_TIME = '0001-01-01T00:00:00Z'

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i

/** Parses a time (RFC 3339) and returns milliseconds since 1970. Throws `invalid`. */
export function readTime(text: string): number {
  // Clients that do not encode the plus sign of an offset send a blank.
  const timeMs = Date.parse(text.replace(' ', '+'))
  if (!RFC_3339.test(text.replace(' ', '+')) || Number.isNaN(timeMs)) {
    throw new Failure('invalid', `${JSON.stringify(text.slice(0, 50))} is not an RFC 3339 time.`)
  }
  return timeMs
}

/**
 * Returns the last second of the day in `text`, in UTC; the time of day is ignored. Returns
 * undefined for the zero time, which Go clients send for no value. Throws `invalid`.
 */
export function readDay(text: string): number | undefined {
  readTime(text)
  if (text.startsWith(ZERO_TIME.slice(0, 10))) return undefined
  return Date.parse(`${text.slice(0, 10)}T23:59:59Z`)
}

/**
 * Parses the bounds `since` and `before` of a time. Times are shown in whole seconds, so the second
 * that `before` names is included. Throws `invalid`.
 */
export function readBounds({
  since,
  before,
}: {
  readonly since?: string | undefined
  readonly before?: string | undefined
}): { readonly sinceMs: number | undefined; readonly beforeMs: number | undefined } {
  return {
    sinceMs: since ? readTime(since) : undefined,
    beforeMs: before ? Math.floor(readTime(before) / 1_000) * 1_000 + 1_000 : undefined,
  }
}
