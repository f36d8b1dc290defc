/** Commits by which a history is walked, from the commit-graph or else from their objects. */

import { closeSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { openToRead, readPart } from '../../conf/lib/read-buffers.js'
import { hasGrafts } from '../repository/repository-state.js'
import type { PathHashes } from './changed-path-filters.js'
import { CommitGraphFile, type GraphCommit } from './commit-graph-file.js'
import { parseCommit } from './commit-object.js'
import type { ObjectReader } from './objects.js'

/** Maximum size of a graph, of about 70 bytes for each commit, and of all cached ones. */
const GRAPH_BYTES_MAX = 4_194_304
const GRAPHS_BYTES_MAX = 33_554_432

/** Maximum number of commits whose objects are read; git lists more of them more cheaply. */
const OBJECTS_MAX = 200

/** Number of commits after which other requests have their turn. */
const TURN_COMMITS = 2_000

/** Approximate memory of a cached graph besides its file. */
const ENTRY_BYTES = 1_000

interface CachedGraph {
  readonly stamp: string
  readonly sizeBytes: number
  /** Undefined for a damaged file. */
  readonly graph: CommitGraphFile | undefined
}

/** Cached graphs by the path of their repository. */
const graphs = new LRUCache<string, CachedGraph>({
  maxSize: GRAPHS_BYTES_MAX,
  sizeCalculation: ({ sizeBytes }) => sizeBytes + ENTRY_BYTES,
})

/** Opens the commits of a repository; undefined if git must read their parents, due to grafts. */
export async function openCommits(
  path: string,
  objects: ObjectReader,
): Promise<CommitSource | undefined> {
  return hasGrafts(path) ? undefined : new CommitSource(objects, await openGraph(path))
}

/**
 * Commits of a repository. As git does, it takes the commits of the graph to exist. If the graph
 * turns out to be damaged, its methods throw a RangeError.
 */
export class CommitSource {
  readonly #objects: Pick<ObjectReader, 'read'>
  readonly #graph: CommitGraphFile | undefined
  #objectReads = 0

  constructor(objects: Pick<ObjectReader, 'read'>, graph: CommitGraphFile | undefined) {
    this.#objects = objects
    this.#graph = graph
  }

  /** True if older commits cost nearly nothing. */
  get hasGraph(): boolean {
    return this.#graph !== undefined
  }

  /**
   * Reads a commit. Returns undefined if it is missing, as at the end of a shallow history, or if
   * `OBJECTS_MAX` others were read that are not in the graph.
   */
  async read(id: string): Promise<GraphCommit | undefined> {
    const position = this.#graph?.find(id)
    if (position !== undefined) return this.#graph?.commitAt(position)
    this.#objectReads += 1
    if (this.#objectReads > OBJECTS_MAX) return undefined
    const object = await this.#objects.read(id)
    if (object?.type !== 'commit' || object.content === undefined) return undefined
    const { tree, parents, committer } = parseCommit(object.id, object.content)
    return { id: object.id, tree, parents, committedAtMs: committer.atMs }
  }

  /** Returns the tree of a commit; undefined if it is not in the graph. */
  treeOf(id: string): string | undefined {
    const position = this.#graph?.find(id)
    return position === undefined ? undefined : this.#graph?.commitAt(position).tree
  }

  /**
   * Returns false if a commit has the same entries at all paths as its first parent; true if it may
   * have another one. A path without hashes may have changed.
   */
  mayChange(id: string, paths: ReadonlyArray<PathHashes | undefined>): boolean {
    const graph = this.#graph
    const position = graph?.find(id)
    if (graph === undefined || position === undefined) return true
    return paths.some((path) => path === undefined || graph.mayChange(position, path))
  }

  /**
   * Follows the first parents from a commit to the first one that may change a path. Their entries
   * at the path are the same.
   */
  async skipUnchanged(id: string, path: PathHashes): Promise<string> {
    let position = this.#graph?.find(id)
    if (this.#graph === undefined || position === undefined) return id
    for (let steps = 1; steps < this.#graph.count; steps += 1) {
      if (this.#graph.mayChange(position, path)) break
      if (steps % TURN_COMMITS === 0) await nextTick()
      const [parent] = this.#graph.parentsOf(position)
      if (parent === undefined) break
      position = parent
    }
    return this.#graph.commitAt(position).id
  }

  /**
   * Finds a commit and its ancestors, without those that are excluded. Returns undefined if git
   * must find them, as without a graph.
   */
  async ancestorsOf(from: string, excluded?: Ancestors): Promise<Ancestors | undefined> {
    const graph = this.#graph
    if (graph === undefined) return undefined
    const waiting: number[] = []
    const others = new Set<string>()
    const unread = new Set([from])
    for (const id of unread) {
      if (excluded?.has(id)) continue
      const position = graph.find(id)
      if (position !== undefined) {
        waiting.push(position)
        continue
      }
      const commit = await this.read(id)
      if (commit === undefined) return undefined
      others.add(id)
      for (const parent of commit.parents) unread.add(parent)
    }
    const states = new Uint8Array(graph.count)
    if (excluded !== undefined) states.set(excluded.states.map((state) => state * 2))
    let count = others.size
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (states[next] !== 0) continue
      states[next] = 1
      count += 1
      if (count % TURN_COMMITS === 0) await nextTick()
      for (const parent of graph.parentsOf(next)) waiting.push(parent)
    }
    return new Ancestors(graph, { others, states, count })
  }
}

interface AncestorsInput {
  /** Commits of the set that are not in the graph. */
  readonly others: ReadonlySet<string>
  /** State of each position: 1 for commits of the set, 2 for excluded ones, and 0 for others. */
  readonly states: Uint8Array
  readonly count: number
}

/** A commit and its ancestors. */
export class Ancestors {
  readonly #graph: CommitGraphFile
  readonly #others: ReadonlySet<string>
  readonly states: Uint8Array
  readonly count: number

  constructor(graph: CommitGraphFile, { others, states, count }: AncestorsInput) {
    this.#graph = graph
    this.#others = others
    this.states = states
    this.count = count
  }

  has(id: string): boolean {
    const position = this.#graph.find(id)
    return position === undefined ? this.#others.has(id) : this.states[position] === 1
  }
}

/** Returns the graph of a repository; undefined if there is none that can be read here. */
async function openGraph(path: string): Promise<CommitGraphFile | undefined> {
  const file = join(path, 'objects', 'info', 'commit-graph')
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined || stat.size > GRAPH_BYTES_MAX) return undefined
  const stamp = `${stat.ino} ${stat.ctimeMs} ${stat.size}`
  const known = graphs.get(path)
  if (known?.stamp === stamp) return known.graph
  const graph = await readGraph(file, stat.size)
  graphs.set(path, { stamp, sizeBytes: stat.size, graph })
  return graph
}

/** Reads a graph; undefined if it is damaged, or was replaced meanwhile by one of another size. */
async function readGraph(file: string, sizeBytes: number): Promise<CommitGraphFile | undefined> {
  try {
    const bytes = Buffer.allocUnsafeSlow(sizeBytes)
    const open = await openToRead(file)
    try {
      const length = await readPart(open, bytes, { length: sizeBytes, position: 0 })
      return new CommitGraphFile(bytes.subarray(0, length))
    } finally {
      closeSync(open)
    }
  } catch {
    // Git reads the history then.
    return undefined
  }
}
