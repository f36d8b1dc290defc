/** The headers of one request, as they came. */

import type { RequestHeaders } from '../../conf/http.js'

/**
 * A request has a handful of headers and is asked for as many: to look through them costs less
 * than a Map does to make. The listener bounds how many there are.
 */
export class SentHeaders implements RequestHeaders {
  readonly #names: string[] = []
  readonly #values: string[] = []

  /** Repeated ones are joined by `, ` (RFC 9110 §5.3). */
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
