/** Waiting requests, in one first-in-first-out line for each repository, served in rotation. */

/** Lines of callbacks, one for each repository. */
export class WaitingLines {
  /** Lines by repository, the next one to be served first. */
  readonly #lines = new Map<string, Set<() => void>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(repository: string, start: () => void): void {
    const line = this.#lines.get(repository) ?? new Set()
    this.#lines.set(repository, line.add(start))
    this.#size += 1
  }

  remove(repository: string, start: () => void): void {
    const line = this.#lines.get(repository)
    if (line?.delete(start)) this.#size -= 1
    if (line?.size === 0) this.#lines.delete(repository)
  }

  /**
   * Returns the next callback, without removing it, and moves its repository to the end of the
   * rotation.
   */
  next(): (() => void) | undefined {
    const [first] = this.#lines
    if (first === undefined) return undefined
    const [repository, line] = first
    this.#lines.delete(repository)
    this.#lines.set(repository, line)
    const [start] = line
    return start
  }

  /** Returns how many callbacks are served before a new one of that repository. */
  countAhead(repository: string): number {
    const own = this.#lines.get(repository)?.size ?? 0
    let count = own
    for (const [name, line] of this.#lines) {
      if (name !== repository) count += Math.min(line.size, own + 1)
    }
    return count
  }
}
