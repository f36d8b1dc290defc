/** Time limits of jobs and steps. */

import { JobFault } from './job-fault.js'

const MINUTE_MS = 60_000
const MINUTES_BY_DEFAULT = '360'

/** Limit of a step that has started. */
export interface TimeLimit {
  readonly minutes: number
  readonly endsAtMs: number
}

/** Parses `timeout-minutes`; by default 360. Throws JobFault. */
export function parseMinutes(text = MINUTES_BY_DEFAULT): number {
  if (!/^\d{1,6}(?:\.\d{1,6})?$/.test(text) || Number(text) === 0) {
    throw new JobFault(`the timeout-minutes '${text}' is not a positive number`)
  }
  return Number(text)
}

/** Converts minutes into milliseconds. */
export function minutesAsMs(minutes: number): number {
  return minutes * MINUTE_MS
}

/**
 * Returns the limit of a step that starts now, from its `timeout-minutes`. A step of an action ends
 * with the step that uses the action. Throws JobFault.
 */
export function startLimit(text: string | undefined, outer: TimeLimit | undefined): TimeLimit {
  const minutes = parseMinutes(text)
  const nowMs = Date.now()
  if (outer !== undefined && outer.endsAtMs <= nowMs) {
    throw new JobFault(`the action ran longer than ${outer.minutes} minutes`)
  }
  const endsAtMs = nowMs + minutesAsMs(minutes)
  return outer !== undefined && outer.endsAtMs < endsAtMs ? outer : { minutes, endsAtMs }
}

/** Returns the time that is left, at least 1 ms, which timers need. */
export function leftMs({ endsAtMs }: TimeLimit): number {
  return Math.max(1, endsAtMs - Date.now())
}
