/** Recent commits of a repository with their parents, which never change, in memory. */
export class CommitGraph {
  readonly #parents = new Map<string, readonly string[]>()

  /** Number of commits whose parents are known. */
  get size(): number {
    return this.#parents.size
  }

  has(oid: string): boolean {
    return this.#parents.has(oid)
  }

  /** Adds commits, each as its id and those of its parents. */
  add(commits: ReadonlyArray<readonly string[]>): void {
    const ids = new Map<string, string>()
    for (const [oid = ''] of commits) ids.set(oid, oid)
    // Parents are the same strings as the commits, so that each id is in memory once.
    for (const [oid = '', ...parents] of commits) {
      this.#parents.set(
        oid,
        parents.map((parent) => ids.get(parent) ?? parent),
      )
    }
  }

  /** Returns the parents of a commit, if they are known. */
  parentsOf(oid: string): readonly string[] | undefined {
    return this.#parents.get(oid)
  }

  /** Returns a commit and the first parents below it, as far as they are known. */
  firstParents(oid: string, countMax: number): readonly string[] {
    const line: string[] = []
    let next: string | undefined = oid
    while (next !== undefined && line.length < countMax) {
      line.push(next)
      next = this.#parents.get(next)?.[0]
    }
    return line
  }

  /** Yields those of the commits that are known, and what they reach without going below `ends`. */
  *reachedFrom(
    oids: readonly string[],
    ends: { has(oid: string): boolean } = new Set(),
  ): Generator<string> {
    const found = new Set(oids.filter((oid) => this.has(oid)))
    // A set yields what is added while it is read.
    for (const oid of found) {
      yield oid
      if (ends.has(oid)) continue
      for (const parent of this.#parents.get(oid) ?? []) found.add(parent)
    }
  }
}
