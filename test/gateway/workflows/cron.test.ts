/** Cron expressions of workflow files: which are valid, and when they occur. */

import fc from 'fast-check'
import t from 'tap'
import { checkCron, nextTime } from '../../../gateway/workflows/cron.js'

const MINUTE_MS = 60_000
const FROM = '2026-11-26T12:00:00Z'

/** Returns the first occurrences after a time. */
function timesOf(cron: string, from = FROM, count = 3): readonly string[] {
  checkCron(cron)
  const times: number[] = []
  while (times.length < count) times.push(nextTime(cron, times.at(-1) ?? Date.parse(from)) ?? 0)
  return times.map((timeMs) => new Date(timeMs).toISOString().slice(0, 16))
}

t.test('five fields are in UTC, with names, ranges, lists and steps', async (t) => {
  const rows: Readonly<Record<string, readonly string[]>> = {
    '*/5 * * * *': ['2026-11-26T12:05', '2026-11-26T12:10', '2026-11-26T12:15'],
    '30 4 * JAN-mar Mon': ['2027-01-04T04:30', '2027-01-11T04:30', '2027-01-18T04:30'],
    '0 8-10/2,23 * * *': ['2026-11-26T23:00', '2026-11-27T08:00', '2026-11-27T10:00'],
    '0 0 * * 7': ['2026-11-29T00:00', '2026-12-06T00:00', '2026-12-13T00:00'],
    '0 0 29 2 *': ['2028-02-29T00:00', '2032-02-29T00:00', '2036-02-29T00:00'],
    '@hourly': ['2026-11-26T13:00', '2026-11-26T14:00', '2026-11-26T15:00'],
    '@weekly': ['2026-11-29T00:00', '2026-12-06T00:00', '2026-12-13T00:00'],
    '@yearly': ['2027-01-01T00:00', '2028-01-01T00:00', '2029-01-01T00:00'],
  }
  for (const [cron, expected] of Object.entries(rows)) t.strictSame(timesOf(cron), expected, cron)
})

t.test('if both days are restricted, one of them fits', async (t) => {
  const expected = ['2026-11-27T00:00', '2026-12-01T00:00', '2026-12-04T00:00']
  t.strictSame(timesOf('0 0 1 * fri'), expected)
})

t.test('a time zone moves the times, also when its clocks change', async (t) => {
  for (const prefix of ['TZ', 'CRON_TZ']) {
    const cron = `${prefix}=Europe/Berlin 30 4 * * *`
    const expected = ['2026-03-28T03:30', '2026-03-29T02:30', '2026-03-30T02:30']
    t.strictSame(timesOf(cron, '2026-03-27T12:00:00Z'), expected)
  }
})

t.test('wrong expressions are refused with the reason', async (t) => {
  const rows: Readonly<Record<string, RegExp>> = {
    '': /has not five fields/,
    '0 0 * *': /has not five fields/,
    '0 0 0 * * *': /has not five fields/,
    '0 0 L * *': /has not five fields/,
    '2027-01-01T00:00:00': /has not five fields/,
    '@reboot': /has not five fields/,
    '61 * * * *': /cannot be read: Invalid value for minute: 61/,
    '0 0 * * jan': /cannot be read/,
    '0 0 30 2 *': /never occurs/,
    '*/4 * * * *': /occurs twice within five minutes/,
    '0,58 * * * *': /occurs twice within five minutes/,
    'TZ=Nowhere/Land 0 0 * * *': /has an unknown time zone 'Nowhere\/Land'/,
    'TZ=+01:00 0 0 * * *': /has an unknown time zone/,
    [`${'0,'.repeat(50)}0 * * * *`]: /has more than 100 characters/,
  }
  for (const [cron, message] of Object.entries(rows)) {
    t.throws(() => checkCron(cron), { message }, cron)
  }
})

/** A field that lists values, and the values. */
function aField(least: number, most: number) {
  const value = fc.integer({ min: least, max: most })
  const list = fc.uniqueArray(value, { minLength: 1, maxLength: 4 })
  const all = fc.constant({ text: '*', values: undefined })
  return fc.oneof(
    all,
    list.map((values) => ({ text: values.join(','), values })),
  )
}

const SCHEDULE = fc.tuple(
  aField(0, 59),
  aField(0, 23),
  aField(1, 28),
  aField(1, 12),
  aField(0, 6),
  fc.date({ min: new Date('2026-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
)

t.test('the next time is the first one after now that all fields fit', async (t) => {
  fc.assert(
    fc.property(SCHEDULE, ([minute, hour, day, month, weekday, now]) => {
      const cron = [minute, hour, day, month, weekday].map(({ text }) => text).join(' ')
      const fits = (timeMs: number) => {
        const date = new Date(timeMs)
        const has = ({ values }: typeof minute, value: number) => values?.includes(value) ?? true
        const fitsDay = has(day, date.getUTCDate())
        const fitsWeekday = has(weekday, date.getUTCDay())
        const areBoth = day.values !== undefined && weekday.values !== undefined
        return (
          has(minute, date.getUTCMinutes()) &&
          has(hour, date.getUTCHours()) &&
          has(month, date.getUTCMonth() + 1) &&
          (areBoth ? fitsDay || fitsWeekday : fitsDay && fitsWeekday)
        )
      }
      const nextMs = nextTime(cron, now.getTime()) ?? 0
      t.ok(nextMs > now.getTime() && nextMs % MINUTE_MS === 0 && fits(nextMs), cron)
      const firstMs = Math.floor(now.getTime() / MINUTE_MS + 1) * MINUTE_MS
      const untilMs = Math.min(nextMs, firstMs + 2_000 * MINUTE_MS)
      for (let timeMs = firstMs; timeMs < untilMs; timeMs += MINUTE_MS) {
        if (fits(timeMs)) t.fail(`${cron} skips ${new Date(timeMs).toISOString()}`)
      }
    }),
    { numRuns: 200 },
  )
})
