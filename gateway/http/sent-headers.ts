/** The headers of one request. */

import type { RequestHeaders } from '../../conf/http.js'

/**
 * Headers in two parallel lists. A request has few headers and few lookups: a linear search costs
 * less than building a Map. The listener limits the number of headers.
 */
export class SentHeaders implements RequestHeaders {
  readonly #names: string[] = []
  readonly #values: string[] = []

  /** Adds a header; values of repeated headers are joined by `, ` (RFC 9110 §5.3). */
  add(name: string, value: string): void {
    const at = this.#names.indexOf(name)
    if (at === -1) {
      this.#names.push(name)
      this.#values.push(value)
    } else {
      this.#values[at] += `, ${value}`
    }
  }

  get(name: string): string | undefined {
    const at = this.#names.indexOf(name)
    return at === -1 ? undefined : this.#values[at]
  }

  has(name: string): boolean {
    return this.#names.includes(name)
  }

  values(): readonly string[] {
    return this.#values
  }

  *[Symbol.iterator](): Generator<[name: string, value: string]> {
    for (const [at, name] of this.#names.entries()) yield [name, this.#values[at] ?? '']
  }
}
