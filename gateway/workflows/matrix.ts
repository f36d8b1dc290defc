/** Combinations of a matrix: the product of its lists, less its exclusions, with its inclusions. */

import type { PlainValue } from './yaml-value.js'

/** Values of one job of a matrix by their keys. */
export type Combination = ReadonlyMap<string, PlainValue>

/** A matrix whose expressions have been evaluated. */
export interface Matrix {
  /** Values by their keys; no list is empty. */
  readonly lists: ReadonlyMap<string, readonly PlainValue[]>
  readonly exclude: readonly Combination[]
  readonly include: readonly Combination[]
}

/** Fault of a matrix; the message follows its name and has no final full stop. */
export class MatrixFault extends Error {}

/** Maximum number of combinations of a matrix. */
const COMBINATIONS_MAX = 256

/** Maximum number of values that are compared or copied for one matrix. */
const STEPS_MAX = 50_000

/**
 * Returns the combinations in the order of the product: the last key changes first. An exclusion
 * removes the combinations that have all its values. An inclusion is added to each combination of
 * which it changes no value of the lists; if there is none, it is a combination of its own. Throws
 * MatrixFault.
 */
export function expandMatrix({ lists, exclude, include }: Matrix): readonly Combination[] {
  for (const entry of exclude) {
    const unknown = [...entry.keys()].find((key) => !lists.has(key))
    if (unknown !== undefined) {
      throw new MatrixFault(`excludes by the key '${unknown}', which has no list`)
    }
  }
  checkSteps({ lists, exclude, include })
  const ids = new ValueIds()
  const excluded = exclude.map((entry) => ids.ofEach(entry))
  const kept = candidatesOf(lists, ids).filter(
    (candidate) => !excluded.some((entry) => candidate.hasAll(entry)),
  )
  const added: Combination[] = []
  for (const entry of include) {
    const entryIds = ids.ofEach(entry)
    const extended = kept.filter((candidate) => candidate.allows(entryIds))
    for (const { values } of extended) for (const [key, value] of entry) values.set(key, value)
    if (extended.length === 0) added.push(entry)
  }
  const count = kept.length + added.length
  if (count === 0) throw new MatrixFault('has no combination')
  if (count > COMBINATIONS_MAX) {
    throw new MatrixFault(`has ${count} combinations; at most ${COMBINATIONS_MAX} are allowed`)
  }
  return [...kept.map(({ values }) => values), ...added]
}

/** Refuses a matrix before its product is computed, which may have any size. */
function checkSteps({ lists, exclude, include }: Matrix): void {
  const count = sizeOf(lists)
  if (exclude.length === 0 && count > COMBINATIONS_MAX) {
    throw new MatrixFault(`has ${count} combinations; at most ${COMBINATIONS_MAX} are allowed`)
  }
  const keys = [...exclude, ...include].reduce((sum, entry) => sum + entry.size + 1, lists.size)
  if (count * keys > STEPS_MAX) {
    throw new MatrixFault(`takes more than ${STEPS_MAX} comparisons`)
  }
}

function sizeOf(lists: Matrix['lists']): number {
  return lists.size === 0 ? 0 : [...lists.values()].reduce((size, list) => size * list.length, 1)
}

/** Returns the product of the lists. */
function candidatesOf(lists: Matrix['lists'], ids: ValueIds): readonly Candidate[] {
  const columns: { key: string; list: readonly Counted[]; stride: number }[] = []
  let stride = sizeOf(lists)
  for (const [key, values] of lists) {
    stride /= values.length
    columns.push({ key, list: values.map((value) => ({ value, id: ids.of(value) })), stride })
  }
  return Array.from({ length: sizeOf(lists) }, (_, at) => {
    const values = new Map<string, PlainValue>()
    const valueIds = new Map<string, number>()
    for (const { key, list, stride } of columns) {
      const chosen = list[Math.floor(at / stride) % list.length]
      if (chosen === undefined) throw new Error('a list of the matrix is empty')
      values.set(key, chosen.value)
      valueIds.set(key, chosen.id)
    }
    return new Candidate(values, valueIds)
  })
}

/** A value of a list with its id. */
interface Counted {
  readonly value: PlainValue
  readonly id: number
}

/** Numbers that are equal if and only if values are deeply equal, by their keys. */
type Ids = ReadonlyMap<string, number>

/** Numbers of values, so that comparing deep values costs no more than comparing numbers. */
class ValueIds {
  readonly #ids = new Map<string, number>()

  ofEach(entry: Combination): Ids {
    return new Map([...entry].map(([key, value]) => [key, this.of(value)]))
  }

  of(value: PlainValue): number {
    const text = JSON.stringify(sorted(value))
    const id = this.#ids.get(text) ?? this.#ids.size
    this.#ids.set(text, id)
    return id
  }
}

/** Returns the value with the keys of its maps in their order, as lists. */
function sorted(value: PlainValue): unknown {
  if (value === null || typeof value !== 'object') return value
  if (isList(value)) return value.map(sorted)
  const keys = Object.keys(value).toSorted()
  return { map: keys.map((key) => [key, sorted(value[key] ?? null)]) }
}

/** Narrows a value; `Array.isArray` does not for lists that are read-only. */
function isList(value: object): value is readonly PlainValue[] {
  return Array.isArray(value)
}

/** A combination of the product. */
class Candidate {
  /** Values of the lists, and those that inclusions have added. */
  readonly values: Map<string, PlainValue>
  /** Ids of the values of the lists. */
  readonly #ids: Ids

  constructor(values: Map<string, PlainValue>, ids: Ids) {
    this.values = values
    this.#ids = ids
  }

  hasAll(entry: Ids): boolean {
    return [...entry].every(([key, id]) => this.#ids.get(key) === id)
  }

  allows(entry: Ids): boolean {
    return [...entry].every(([key, id]) => (this.#ids.get(key) ?? id) === id)
  }
}
