/** Points in time as this API writes them: RFC 3339, whole seconds, UTC. */

import { Failure } from '../../conf/failures.js'

/** Text of a time in milliseconds since 1970. */
export function apiTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`
}

/** A time that was never set, in a column that counts seconds: what clients read as never. */
export const NEVER = '1970-01-01T00:00:00Z'

/** A time that was never set, in a field that has no column. */
export const ZERO_TIME = '0001-01-01T00:00:00Z'

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i

/** The milliseconds of a time that was sent. Throws `invalid`. */
export function readTime(text: string): number {
  // Whoever did not encode the plus sign of an offset means no blank.
  const timeMs = Date.parse(text.replace(' ', '+'))
  if (!RFC_3339.test(text.replace(' ', '+')) || Number.isNaN(timeMs)) {
    throw new Failure('invalid', `${JSON.stringify(text.slice(0, 50))} is no time of RFC 3339.`)
  }
  return timeMs
}

/**
 * The last second of the day that was sent, whatever its time says; undefined for the first day of
 * all, which clients in Go send for none. Throws `invalid`.
 */
export function readDay(text: string): number | undefined {
  readTime(text)
  if (text.startsWith(ZERO_TIME.slice(0, 10))) return undefined
  return Date.parse(`${text.slice(0, 10)}T23:59:59Z`)
}

/**
 * The bounds that `since` and `before` set to a time. As times are told in whole seconds, the
 * second that `before` names belongs to it. Throws `invalid`.
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
