/** Points in time as this API writes them: RFC 3339, whole seconds, UTC. */

/** Text of a time in milliseconds since 1970. */
export function apiTime(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`
}

/** A time that was never set, in a column that counts seconds: what clients read as never. */
export const NEVER = '1970-01-01T00:00:00Z'

/** A time that was never set, in a field that has no column. */
export const ZERO_TIME = '0001-01-01T00:00:00Z'
