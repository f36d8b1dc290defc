/** Requests that wait for a place, a line for each repository; the repositories take turns. */

/** Lines of callbacks, each called when its turn has come. */
export class WaitingLines {
  /** By repository; the one whose turn is next comes first. */
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

  /** The callback whose turn it is; its repository has its next turn after the others. */
  next(): (() => void) | undefined {
    const [first] = this.#lines
    if (first === undefined) return undefined
    const [repository, line] = first
    this.#lines.delete(repository)
    this.#lines.set(repository, line)
    const [start] = line
    return start
  }

  /** How many have their turn before one more for that repository. */
  countAhead(repository: string): number {
    const own = this.#lines.get(repository)?.size ?? 0
    let count = own
    for (const [name, line] of this.#lines) {
      if (name !== repository) count += Math.min(line.size, own + 1)
    }
    return count
  }
}
