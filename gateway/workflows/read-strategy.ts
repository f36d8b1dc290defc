/** The value of `strategy` of a job: the combinations of its matrix, and how they run. */

import { type Evaluation, evaluateField } from './evaluate-field.js'
import { hasExpression } from './expressions.js'
import { type Combination, expandMatrix, MatrixFault } from './matrix.js'
import type { PlainValue, YamlValue } from './yaml-value.js'

/** The strategy of a job. */
export interface Strategy {
  /** Undefined if the job has no matrix. */
  readonly combinations: readonly Combination[] | undefined
  /** True if a failed job cancels the others of its matrix. */
  readonly failsFast: boolean
  /** Maximum number of jobs of the matrix that wait or run; undefined if there is no limit. */
  readonly maxParallel: number | undefined
}

/** Reads a strategy. Throws FileFault. */
export function readStrategy(value: YamlValue | undefined, evaluation: Evaluation): Strategy {
  const fields = value?.map()
  const [matrix, failFast, maxParallel] = ['matrix', 'fail-fast', 'max-parallel'].map((key) =>
    fields?.get(key),
  )
  return {
    combinations: matrix && combinationsOf(matrix, evaluation),
    failsFast: failFast === undefined || readSwitch(failFast, evaluation),
    maxParallel: maxParallel && readCount(maxParallel, evaluation),
  }
}

/** Reads a boolean, or an expression whose value is one; null and the empty text mean false. */
export function readSwitch(value: YamlValue, evaluation: Evaluation): boolean {
  const text = String(evaluateField(value, evaluation) ?? '')
  if (text === 'true') return true
  return text === 'false' || text === '' ? false : value.fail('must be true or false')
}

function readCount(value: YamlValue, evaluation: Evaluation): number {
  const text = String(evaluateField(value, evaluation) ?? '')
  return /^[1-9]\d{0,5}$/.test(text)
    ? Number(text)
    : value.fail('must be a number from 1 to 999999')
}

function combinationsOf(value: YamlValue, evaluation: Evaluation): readonly Combination[] {
  const plain = evaluateField(value, evaluation)
  if (!isRecord(plain)) return value.fail('must be a map')
  // A record has keys that are numbers first; the file has the order of its author.
  const keys = value.isMap ? value.map().keys() : Object.keys(plain)
  const lists = new Map<string, readonly PlainValue[]>()
  for (const key of keys) {
    if (key === 'include' || key === 'exclude') continue
    const list = plain[key] ?? null
    if (!isList(list)) return value.fail(`has no list for the key '${key}'`)
    if (list.length === 0) return value.fail(`has an empty list for the key '${key}'`)
    lists.set(key, list)
  }
  const [exclude, include] = ['exclude', 'include'].map((key) => entriesOf(value, key, plain[key]))
  refuseExpressionKeys(value, plain)
  try {
    return expandMatrix({ lists, exclude: exclude ?? [], include: include ?? [] })
  } catch (error) {
    if (!(error instanceof MatrixFault)) throw error
    return value.fail(error.message)
  }
}

function entriesOf(
  value: YamlValue,
  key: string,
  entries: PlainValue | undefined,
): readonly Combination[] {
  if (entries === undefined) return []
  if (!isList(entries) || !entries.every(isRecord)) {
    return value.fail(`has an '${key}' that is not a list of maps`)
  }
  return entries.map((entry) => new Map(Object.entries(entry)))
}

/** Refuses keys that a runner would evaluate; texts are escaped, but keys are names. */
function refuseExpressionKeys(value: YamlValue, plain: PlainValue): void {
  if (plain === null || typeof plain !== 'object') return
  for (const [key, field] of Object.entries(plain)) {
    if (hasExpression(key)) value.fail('has a key with an expression')
    refuseExpressionKeys(value, field)
  }
}

function isRecord(value: PlainValue): value is Readonly<Record<string, PlainValue>> {
  return typeof value === 'object' && value !== null && !isList(value)
}

/** Narrows a value; `Array.isArray` does not for lists that are read-only. */
function isList(value: PlainValue): value is readonly PlainValue[] {
  return Array.isArray(value)
}
