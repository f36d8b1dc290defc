/** Limits of the work that expressions do: their authors choose what they cost. */

import { data } from '@actions/expressions'
import type { Value } from './expression-values.js'

/** Fault of an expression; the message names it and has no final full stop. */
export class ExpressionFault extends Error {}

/**
 * Maximum number of characters and values that the expressions of one text may handle. `format`,
 * `join` and `toJSON` multiply their input, and a long value can be named a thousand times.
 */
const WORK_MAX = 6_291_456

/** Characters and values that expressions may still handle; several texts may share them. */
export interface Work {
  left: number
}

/** Returns the work that the expressions of one text may do. */
export const newWork = (): Work => ({ left: WORK_MAX })

/** Counts work. Throws ExpressionFault if there is more than may be done. */
export function spend(work: Work, amount: number): void {
  work.left -= amount
  if (work.left < 0) {
    throw new ExpressionFault(`expressions of a text handle more than ${WORK_MAX} characters`)
  }
}

/** Maximum depth of the JSON that `fromJSON` reads. */
const JSON_DEPTH_MAX = 64

/** Returns the number of characters of a text; other values count as 32. */
export function textLength(value: Value | undefined): number {
  return value?.kind === data.Kind.String ? value.value.length : 32
}

/** Counts the result of a function, or for `fromJSON` its input, before the function runs. */
export function spendOnCall(name: string, values: readonly Value[], work: Work): void {
  const [first, second] = values
  if (first === undefined) return
  switch (name) {
    case 'format':
      spend(work, textLength(first))
      for (const [, index] of first.coerceString().matchAll(/\{(\d+)/g)) {
        spend(work, textLength(values[1 + Number(index)]))
      }
      return
    case 'contains':
    case 'join':
      if (first.kind !== data.Kind.Array) return
      for (const item of first.values()) spend(work, textLength(item) + textLength(second))
      return
    case 'tojson':
      spendOnJson(first, 0, work)
      return
    case 'fromjson':
      spendOnJsonText(first.coerceString(), work)
  }
}

/** Counts the indented JSON of a value. */
function spendOnJson(value: Value, depth: number, work: Work): void {
  // Two columns of indentation for each level, a colon, a comma, brackets and line feeds.
  spend(work, 2 * depth + 8)
  switch (value.kind) {
    case data.Kind.Array:
      for (const item of value.values()) spendOnJson(item, depth + 1, work)
      return
    case data.Kind.Dictionary:
      for (const { key, value: item } of value.pairs()) {
        spend(work, 2 * key.length)
        spendOnJson(item, depth + 1, work)
      }
      return
    default:
      // Each character is at most six in JSON, such as \u001f.
      spend(work, JSON.stringify(value.coerceString()).length)
  }
}

/** Work for each value of a JSON text, which costs more to read than a character. */
const JSON_VALUE_WORK = 64

/** Counts a JSON text and its values. Throws ExpressionFault if it is nested too deep. */
function spendOnJsonText(text: string, work: Work): void {
  spend(work, text.length)
  let depth = 0
  let isText = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') isText = !isText
    if (isText && character === '\\') at += 1
    if (isText) continue
    if (character === '[' || character === '{' || character === ',') spend(work, JSON_VALUE_WORK)
    if (character === '[' || character === '{') depth += 1
    if (character === ']' || character === '}') depth -= 1
    if (depth > JSON_DEPTH_MAX) {
      throw new ExpressionFault(`fromJSON reads at most ${JSON_DEPTH_MAX} levels`)
    }
  }
}
