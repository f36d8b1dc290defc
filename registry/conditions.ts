/** Conditional requests: entity tags and modification dates (RFC 9110 §13). */

import type { RequestHeaders } from '../conf/http.js'

/** Returns a strong entity tag; the text must not contain quotes or spaces (RFC 9110 §8.8.3). */
export function entityTag(text: string): string {
  return `"${text}"`
}

/** Validators of a reply (RFC 9110 §8.8). */
export interface Validators {
  readonly tag: string
  /** Time of the last change; absent if it is too recent for a `Last-Modified` date. */
  readonly changedAtMs?: number
}

/**
 * Minimum age of a change for which a date is sent. Dates have a resolution of one second, and the
 * clocks of two machines differ. So with a date, a client could take an old reply for a newer one.
 */
const SETTLED_AFTER_MS = 3_000

/** Returns the time of a change for `Last-Modified`; undefined if it is too recent. */
export function lastModifiedTime(changedAtMs: number, nowMs = Date.now()): number | undefined {
  return nowMs - changedAtMs > SETTLED_AFTER_MS ? changedAtMs : undefined
}

/**
 * Evaluates the conditions of a GET or HEAD request (RFC 9110 §13.2.2). Returns 412 if a
 * precondition fails, 304 if the client's copy is current, and undefined otherwise.
 */
export function conditionStatus(
  headers: RequestHeaders,
  validators: Validators,
): 304 | 412 | undefined {
  if (isPreconditionFalse(headers, validators)) return 412
  return isUnchanged(headers, validators) ? 304 : undefined
}

/** Returns true if `If-Match`, with strong comparison, or `If-Unmodified-Since` is false. */
function isPreconditionFalse(headers: RequestHeaders, { tag, changedAtMs }: Validators): boolean {
  const meant = headers.get('if-match')
  if (meant !== undefined) return !listOf(meant).some((one) => one === '*' || one === tag)
  const since = dateOf(headers, 'if-unmodified-since')
  return changedAtMs !== undefined && wholeSeconds(changedAtMs) > since
}

/**
 * Returns true if the client's copy is current. Tags are compared weakly (RFC 9110 §8.8.3.2),
 * because a proxy that compresses a reply makes its tag weak.
 */
function isUnchanged(headers: RequestHeaders, { tag, changedAtMs }: Validators): boolean {
  const known = headers.get('if-none-match')
  if (known !== undefined) {
    return listOf(known).some((one) => one === '*' || one === tag || one === `W/${tag}`)
  }
  const since = dateOf(headers, 'if-modified-since')
  return changedAtMs !== undefined && wholeSeconds(changedAtMs) <= since
}

function listOf(value: string): readonly string[] {
  return value.split(',').map((one) => one.trim())
}

/** Returns the date of a header; NaN, for which all comparisons are false, if there is none. */
function dateOf(headers: RequestHeaders, name: string): number {
  return Date.parse(headers.get(name) ?? '')
}

function wholeSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1_000) * 1_000
}
