/** Values of expressions: those of contexts, and those of the library that evaluates. */

import { data } from '@actions/expressions'

/** A JSON-like value of a context. */
export type ContextValue =
  | string
  | number
  | boolean
  | null
  | readonly ContextValue[]
  | { readonly [key: string]: ContextValue }

/** Contexts by name, such as github, env, steps, needs. */
export type Contexts = Readonly<Record<string, ContextValue>>

/** A value of the library. */
export type Value = data.ExpressionData

/** Returns true for a value that a condition takes as true. */
export function isTruthy(value: Value): boolean {
  switch (value.kind) {
    case data.Kind.Null:
      return false
    case data.Kind.Boolean:
    case data.Kind.String:
      return Boolean(value.value)
    case data.Kind.Number:
      return value.value !== 0 && !Number.isNaN(value.value)
    default:
      return true
  }
}

/** A map whose values are converted when they are read, because events may be long. */
export class LazyDictionary extends data.Dictionary {
  /** Entries by their names in lower case. */
  readonly #entries: ReadonlyMap<string, readonly [key: string, value: ContextValue]>
  readonly #converted = new Map<string, Value>()

  constructor(source: Readonly<Record<string, ContextValue>>) {
    super()
    this.#entries = new Map(
      Object.entries(source).map(([key, value]) => [key.toLowerCase(), [key, value]]),
    )
  }

  override get(key: string): Value | undefined {
    const name = key.toLowerCase()
    const entry = this.#entries.get(name)
    if (entry === undefined) return undefined
    const value = this.#converted.get(name) ?? toData(entry[1])
    this.#converted.set(name, value)
    return value
  }

  override pairs(): { key: string; value: Value }[] {
    return [...this.#entries.values()].map(([key]) => ({
      key,
      value: this.get(key) ?? new data.Null(),
    }))
  }

  override values(): Value[] {
    return this.pairs().map(({ value }) => value)
  }
}

function toData(value: ContextValue): Value {
  if (value === null) return new data.Null()
  if (typeof value === 'string') return new data.StringData(value)
  if (typeof value === 'number') return new data.NumberData(value)
  if (typeof value === 'boolean') return new data.BooleanData(value)
  if (!isList(value)) return new LazyDictionary(value)
  const list = new data.Array()
  for (const item of value) list.add(toData(item))
  return list
}

/** Narrows a value; `Array.isArray` does not for lists that are read-only. */
function isList(value: object): value is readonly ContextValue[] {
  return Array.isArray(value)
}
