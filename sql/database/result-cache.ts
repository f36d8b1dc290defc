/** Results of queries, by SQL text and bindings. */

const RESULTS_MAX = 1_000
/** Larger results, such as pages of lists, are rarely requested twice. */
const ROWS_MAX = 10

interface Result {
  readonly rows: readonly unknown[]
  readonly expiresAtMs: number
}

/** A cache that its owner empties when the database changes. Its rows are frozen. */
export class ResultCache {
  readonly #keptMs: number
  /** Results by SQL text and then by bindings, because there are few different texts. */
  readonly #results = new Map<string, Map<string, Result>>()
  #count = 0

  /** A result is returned for at most `keptMs`; by default without a limit of time. */
  constructor(keptMs = Number.POSITIVE_INFINITY) {
    this.#keptMs = keptMs
  }

  /** Returns true if a result of the query was added, with any bindings, since it was emptied. */
  hasResultOf(sql: string): boolean {
    return this.#results.has(sql)
  }

  get(sql: string, key: string): readonly unknown[] | undefined {
    const result = this.#results.get(sql)?.get(key)
    if (result === undefined) return undefined
    const isKept = result.expiresAtMs === Number.POSITIVE_INFINITY
    return isKept || performance.now() < result.expiresAtMs ? result.rows : undefined
  }

  /** Adds a result and returns its rows, frozen. */
  add(sql: string, key: string, found: readonly unknown[]): readonly unknown[] {
    const rows = Object.freeze(found.map((row) => Object.freeze(row)))
    if (rows.length > ROWS_MAX) return rows
    if (this.#count >= RESULTS_MAX) this.clear()
    const ofQuery = this.#results.get(sql) ?? new Map<string, Result>()
    if (!ofQuery.has(key)) this.#count += 1
    ofQuery.set(key, { rows, expiresAtMs: performance.now() + this.#keptMs })
    this.#results.set(sql, ofQuery)
    return rows
  }

  clear(): void {
    this.#results.clear()
    this.#count = 0
  }
}

/** Returns the key of bindings: a prefix-free encoding of each, so that no two lists are equal. */
export function bindingsKey(values: readonly unknown[]): string {
  let key = ''
  for (const value of values) key += keyOf(value)
  return key
}

function keyOf(value: unknown): string {
  if (typeof value === 'string') return `${value.length}:${value}`
  return typeof value === 'bigint' ? `${value}n` : `${JSON.stringify(value)},`
}
