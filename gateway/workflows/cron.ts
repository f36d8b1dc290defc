/** Cron expressions of workflow files: five fields, in UTC or in another time zone. */

import { Cron } from 'croner'

/** Maximum number of characters of an expression. */
const CHARACTERS_MAX = 100
/** Shortest time between two occurrences. */
const DISTANCE_MIN_MS = 300_000
/** Number of occurrences whose distances are checked, because each takes CPU time. */
const CHECKED_OCCURRENCES = 25
/** Beginning of the check, so that a file is valid or not at any time. */
const CHECKED_FROM_MS = Date.UTC(2026, 0, 1)

const NICKNAME = /^@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)$/i
const NAME = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat'
const VALUE = `(?:\\d{1,2}|${NAME})`
const RANGE = `(?:\\*|${VALUE}(?:-${VALUE})?)(?:/\\d{1,2})?`
const FIELD = `${RANGE}(?:,${RANGE})*`
// The library has more forms than other servers, among them dates and six fields.
const FIELDS = new RegExp(`^${FIELD}(?:[ \\t]+${FIELD}){4}$`, 'i')

/** Error of an expression; its message continues "the cron 'x' ". */
export class CronError extends Error {}

/**
 * Checks an expression: five fields, or a name such as `@daily`, after an optional `TZ=Zone` or
 * `CRON_TZ=Zone`. If the day of the month and the day of the week are both restricted, one of them
 * must fit. Throws CronError, also if it never occurs, or twice within five minutes among its first
 * occurrences.
 */
export function checkCron(text: string): void {
  if (text.length > CHARACTERS_MAX) {
    throw new CronError(`has more than ${CHARACTERS_MAX} characters`)
  }
  const { zone, pattern } = partsOf(text)
  if (!NICKNAME.test(pattern) && !FIELDS.test(pattern)) {
    throw new CronError("has not five fields, as in '30 4 * * mon', and is no name such as @daily")
  }
  if (!isZone(zone)) throw new CronError(`has an unknown time zone '${zone}'`)
  const cron = readable(text)
  let previousMs = after(cron, CHECKED_FROM_MS - 1)
  if (previousMs === undefined) throw new CronError('never occurs')
  for (let count = 1; count < CHECKED_OCCURRENCES; count += 1) {
    const nextMs = after(cron, previousMs)
    if (nextMs === undefined) return
    if (nextMs - previousMs < DISTANCE_MIN_MS) {
      throw new CronError('occurs twice within five minutes')
    }
    previousMs = nextMs
  }
}

/** Returns the first occurrence after a time; undefined if there is none. */
export function nextTime(text: string, timeMs: number): number | undefined {
  return after(cronOf(text), timeMs)
}

function after(cron: Cron, timeMs: number): number | undefined {
  return cron.nextRun(new Date(timeMs))?.getTime()
}

function readable(text: string): Cron {
  try {
    return cronOf(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^\w+: /, '') : String(error)
    throw new CronError(`cannot be read: ${reason}`, { cause: error })
  }
}

function cronOf(text: string): Cron {
  const { zone, pattern } = partsOf(text)
  return new Cron(pattern, { mode: '5-part', timezone: zone })
}

function partsOf(text: string): { readonly zone: string; readonly pattern: string } {
  const [, zone = 'UTC', pattern = ''] = /^(?:(?:CRON_)?TZ=(\S*)\s+)?(.*)$/s.exec(text) ?? []
  return { zone, pattern }
}

function isZone(zone: string): boolean {
  // Offsets such as +01:00 are no names of zones.
  if (!/^[A-Za-z]/.test(zone)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
