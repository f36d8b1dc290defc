/** The recent history of repositories that fleets fetch from, followed from push to push. */

import { LRUCache } from 'lru-cache'
import type { HistoryQuestion } from '../../cgi/objects/recent-commits.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import { CommitGraph } from './commit-graph.js'
import type { ReferenceList } from './reference-list.js'

/** Maximum number of commits that one git process reads. With twice as many, all are read anew. */
const COMMITS_MAX = 2_048

/** Maximum number of commits in memory, of all repositories; each takes about 200 bytes. */
const ALL_COMMITS_MAX = 131_072

/** Maximum number of branches whose history is read without being wanted. */
const BRANCHES_MAX = 1_000

/** Maximum number of commits that are known to be wanted once. */
const WANTED_MAX = 1_000

/** A repository, and the client that a git process is counted for; see `auth/client`. */
export interface HistoryOwner {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  readonly client: () => string
}

/** Runs git for commits of a repository, each as its id and those of its parents. */
export type AskHistory = (
  owner: HistoryOwner,
  question: HistoryQuestion,
) => Promise<ReadonlyArray<readonly string[]>>

/**
 * Reads commits of a repository without a process, until it finds known ones. Returns undefined if
 * there are too many, or if git must read them.
 */
export type ReadNear = (
  repositoryPath: string,
  question: { readonly tips: readonly string[]; readonly isKnown: (oid: string) => boolean },
) => Promise<ReadonlyArray<readonly string[]> | undefined>

interface Entry {
  graph: CommitGraph
  /** Commits from which the graph was read. */
  tips: readonly string[]
  reading: Promise<void> | undefined
}

/** A read of the history of a commit. */
interface Reading {
  readonly owner: HistoryOwner
  readonly oid: string
  readonly references: ReferenceList
  /** True if git must not run. */
  readonly isNear: boolean
}

interface Extension extends Pick<Reading, 'owner' | 'isNear'> {
  readonly tips: readonly string[]
}

interface Reached {
  readonly graph: CommitGraph
  readonly size: number
  readonly commits: ReadonlySet<string>
}

export class RecentHistories {
  readonly #ask: AskHistory
  readonly #readNear: ReadNear
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: ALL_COMMITS_MAX,
    sizeCalculation: ({ graph }) => graph.size + 1,
  })

  /** Last result of `reached` for a list of refs, and the graph and its size at that time. */
  readonly #reached = new WeakMap<ReferenceList, Reached>()
  /** Commits that were wanted once, by repository and id. */
  readonly #wanted = new LRUCache<string, true>({ max: WANTED_MAX })

  constructor(ask: AskHistory, readNear: ReadNear = async () => undefined) {
    this.#ask = ask
    this.#readNear = readNear
  }

  /** Returns the history in memory if it has the commit. */
  known(repositoryPath: string, oid: string): CommitGraph | undefined {
    const graph = this.#entries.get(repositoryPath)?.graph
    return graph?.has(oid) === true ? graph : undefined
  }

  /**
   * Returns the history of a commit that clients fetch repeatedly; undefined if git cannot run, and
   * for the first fetch of a commit far from the history in memory, which may be the only one.
   */
  readRepeated(
    owner: HistoryOwner,
    oid: string,
    references: ReferenceList,
  ): Awaitable<CommitGraph | undefined> {
    const known = this.known(owner.repositoryPath, oid)
    if (known !== undefined) return known
    const key = `${owner.repositoryPath} ${oid}`
    const isRepeated = this.#wanted.has(key)
    this.#wanted.set(key, true)
    if (!isRepeated && !this.#entries.has(owner.repositoryPath)) return undefined
    return this.#read({ owner, oid, references, isNear: !isRepeated }).catch(() => undefined)
  }

  /**
   * Returns the history of a commit and of the branches; undefined if the commit is missing. Runs
   * git only if the commit is neither in memory nor near what is. Throws `unavailable` or
   * `throttled` like `ProcessQueue.enter`.
   */
  async read(
    owner: HistoryOwner,
    oid: string,
    references: ReferenceList,
  ): Promise<CommitGraph | undefined> {
    return await this.#read({ owner, oid, references, isNear: false })
  }

  async #read({ owner, oid, references, isNear }: Reading): Promise<CommitGraph | undefined> {
    const { repositoryPath } = owner
    const known = this.known(repositoryPath, oid)
    if (known !== undefined) return known
    const entry = this.#entryOf(repositoryPath)
    while (entry.reading !== undefined) await entry.reading
    if (!entry.graph.has(oid)) {
      const tips = [...new Set([oid, ...branchTips(references)])]
      entry.reading = this.#extend(entry, { owner, tips, isNear }).finally(() => {
        entry.reading = undefined
      })
      await entry.reading
    }
    return entry.graph.has(oid) ? entry.graph : undefined
  }

  async #extend(entry: Entry, { owner, tips, isNear }: Extension): Promise<void> {
    const { graph } = entry
    const known = graph.size > 2 * COMMITS_MAX ? [] : entry.tips
    const missing = tips.filter((oid) => known.length === 0 || !graph.has(oid))
    const isKnown = (oid: string) => graph.has(oid)
    const near =
      known.length === 0
        ? undefined
        : await this.#readNear(owner.repositoryPath, { tips: missing, isKnown })
    if (near === undefined && isNear) return
    const commits = near ?? (await this.#ask(owner, { tips: missing, known, count: COMMITS_MAX }))
    // A missing commit must not count as read.
    if (commits.length === 0) return
    if (known.length === 0) entry.graph = new CommitGraph()
    entry.graph.add(commits)
    entry.tips = tips
    this.#entries.set(owner.repositoryPath, entry)
  }

  /** Returns the commits of which the history in memory shows that branches reach them. */
  reached(repositoryPath: string, references: ReferenceList): ReadonlySet<string> {
    const graph = this.#entries.get(repositoryPath)?.graph
    if (graph === undefined) return new Set()
    const last = this.#reached.get(references)
    if (last?.graph === graph && last.size === graph.size) return last.commits
    const commits = new Set(graph.reachedFrom(branchTips(references)))
    this.#reached.set(references, { graph, size: graph.size, commits })
    return commits
  }

  #entryOf(repositoryPath: string): Entry {
    const known = this.#entries.get(repositoryPath)
    if (known !== undefined) return known
    const entry = { graph: new CommitGraph(), tips: [], reading: undefined }
    this.#entries.set(repositoryPath, entry)
    return entry
  }
}

/** Returns the commits of branches, as far as histories are read for them. */
export function branchTips(references: ReferenceList): readonly string[] {
  return references.targetsBelow(['refs/heads/'], BRANCHES_MAX)
}
