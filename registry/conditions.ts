/** What a client says of the answer that it wants, or has already (RFC 9110 §13). */

import type { RequestHeaders } from '../conf/http.js'

/** A strong entity tag of that text, which holds neither quotes nor spaces. */
export function entityTag(text: string): string {
  return `"${text}"`
}

/** What a client may know of an answer. */
export interface Validators {
  readonly tag: string
  /** Absent where it may change again within the second that a date tells. */
  readonly changedAtMs?: number
}

/**
 * Dates tell seconds, and the clocks of two machines differ: within this time of a change none is
 * told, so that no client takes what it got then for what came after.
 */
const SETTLED_AFTER_MS = 3_000

/** A time of change as it may be told to clients; undefined while it may not. */
export function lastModifiedTime(changedAtMs: number, nowMs = Date.now()): number | undefined {
  return nowMs - changedAtMs > SETTLED_AFTER_MS ? changedAtMs : undefined
}

/**
 * The answer to a GET or HEAD with these headers, where it is not the one that they ask for: 412
 * where that is not what the client means, 304 where the client has it.
 */
export function conditionStatus(
  headers: RequestHeaders,
  validators: Validators,
): 304 | 412 | undefined {
  if (isAnother(headers, validators)) return 412
  return isUnchanged(headers, validators) ? 304 : undefined
}

/** By strong comparison: a part of it is to be put beside what the client has. */
function isAnother(headers: RequestHeaders, { tag, changedAtMs }: Validators): boolean {
  const meant = headers.get('if-match')
  if (meant !== undefined) return !listOf(meant).some((one) => one === '*' || one === tag)
  const since = dateOf(headers, 'if-unmodified-since')
  return changedAtMs !== undefined && wholeSeconds(changedAtMs) > since
}

/** By weak comparison (RFC 9110 §8.8.3.2): a proxy that packed the answer made its tag weak. */
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

/** Not a number, to which nothing compares, where there is no date. */
function dateOf(headers: RequestHeaders, name: string): number {
  return Date.parse(headers.get(name) ?? '')
}

function wholeSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1_000) * 1_000
}
