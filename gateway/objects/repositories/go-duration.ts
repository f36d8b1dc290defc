/** Durations in the format of Go's `time.Duration`: `8h0m0s`, `10m`, `1.5s`. */

import { Failure } from '../../../conf/failures.js'

const MS_BY_UNIT: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
}

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g
const WHOLE = new RegExp(`^(?:${PART.source})+$`)

/** Formats a duration in milliseconds. */
export function goDuration(durationMs: number): string {
  if (durationMs === 0) return '0s'
  if (durationMs < 1_000) return `${durationMs}ms`
  const [hours, rest] = [Math.floor(durationMs / 3_600_000), durationMs % 3_600_000]
  const [minutes, seconds] = [Math.floor(rest / 60_000), (rest % 60_000) / 1_000]
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`
}

/**
 * Parses a duration and returns whole milliseconds. Throws `invalid` if Go could not parse it or it
 * is negative.
 */
export function parseGoDuration(text: string): number {
  if (text === '0') return 0
  const durationMs = WHOLE.test(text)
    ? [...text.matchAll(PART)].reduce(
        (sum, [, count, unit = '']) => sum + Number(count) * (MS_BY_UNIT[unit] ?? Number.NaN),
        0,
      )
    : Number.NaN
  if (Number.isSafeInteger(Math.round(durationMs))) return Math.round(durationMs)
  throw new Failure('invalid', `time: invalid duration ${JSON.stringify(text.slice(0, 50))}`)
}
