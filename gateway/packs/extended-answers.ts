/** Complete clones after a push: a stored answer for former tips, extended by the new objects. */

import { fstatSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { hasBitmapOf } from '../../cgi/objects/object-presence.js'
import { checkReachability } from '../../cgi/objects/reachability.js'
import type { Git } from '../../cgi/process/git.js'
import { packNewObjects } from '../../cgi/transfer/new-objects.js'
import type { Log } from '../../conf/log.js'
import { type AnswerNames, dependsOnAll, type Wanted, type WriteOptions } from './answer-names.js'
import { writeExtendedPack } from './extended-pack.js'
import type { FetchRequest } from './normal-fetch.js'
import type { PackStore } from './pack-store.js'

/** Minimum length of an answer to extend: the cost of git for shorter ones is about the same. */
const ANSWER_BYTES_MIN = 4_194_304

/** Maximum share of new objects, in bytes, before git makes the whole answer again. */
const ADDED_SHARE = 1 / 4

/** Maximum bytes of new objects for one answer, which are held in memory. */
const ADDED_BYTES_MAX = 8_388_608

/** Maximum number of extensions: each may make the chains of deltas longer. */
const EXTENSIONS_MAX = 50

/** Maximum number of bases for fetches that differ only in their wants. */
const BASES_MAX = 4

/** Maximum number of object ids in memory, of about 60 bytes each. */
const OIDS_MAX = 200_000

/** A fetch whose answer is to be made. */
export interface FetchQuestion {
  /** Absolute path of the bare repository. */
  readonly repositoryPath: string
  readonly wanted: Wanted
}

/** A stored answer to a complete clone. */
export interface Base {
  readonly wants: readonly string[]
  readonly bytes: number
  /** Wants and length of git's answer, to which extensions have been added. */
  readonly first: Pick<Base, 'wants' | 'bytes'>
  readonly extensions: number
}

export interface ExtendedAnswersParts {
  readonly git: Git
  readonly log: Log
  readonly store: Pick<PackStore, 'find'>
  readonly names: AnswerNames
}

/** The stored answers to complete clones that this process has made. */
export class ExtendedAnswers {
  readonly #parts: ExtendedAnswersParts
  /** Bases, the last one first, by the cache key of their fetches without the wants. */
  readonly #bases = new LRUCache<string, readonly Base[]>({
    maxSize: OIDS_MAX,
    sizeCalculation: (bases) =>
      bases.reduce((sum, { wants, first }) => sum + wants.length + first.wants.length, 1),
  })

  constructor(parts: ExtendedAnswersParts) {
    this.#parts = parts
  }

  /**
   * Writes the answer to a complete clone: a stored answer, and the objects that it lacks. Returns
   * the stored one, or undefined if git must make the whole answer; then nothing was written.
   */
  async write(
    question: FetchQuestion,
    options: Omit<WriteOptions, 'onStarted'>,
  ): Promise<Base | undefined> {
    const key = this.#keyOf(question)
    const bases = key === undefined ? [] : (this.#bases.get(key) ?? [])
    const { repositoryPath, wanted } = question
    try {
      for (const base of nearest(bases, wanted.request)) {
        if (await this.#extend(base, question, options)) return base
      }
    } catch (error) {
      if (fstatSync(options.file).size > 0 || options.signal.aborted) throw error
      this.#parts.log.warn({ error, repositoryPath }, 'stored answer was not extended')
      if (key !== undefined) this.#bases.delete(key)
    }
    return undefined
  }

  /** Records that an answer was stored; `base` is absent if git has made the whole answer. */
  note(question: FetchQuestion, bytes: number, base: Base | undefined): void {
    const key = this.#keyOf(question)
    if (key === undefined || bytes < ANSWER_BYTES_MIN) return
    const { wants } = question.wanted.request
    const { first, extensions } = base ?? { first: { wants, bytes }, extensions: -1 }
    const others = (this.#bases.get(key) ?? []).filter((other) => other !== base)
    const next = { wants, bytes, first, extensions: extensions + 1 }
    this.#bases.set(key, [next, ...others].slice(0, BASES_MAX))
  }

  /** Returns the cache key of the fetch without its wants; undefined for other fetches. */
  #keyOf({ repositoryPath, wanted }: FetchQuestion): string | undefined {
    const { request, state, references } = wanted
    if (!isCompleteClone(request) || dependsOnAll(request, state)) return undefined
    if (!references.areTips(request.wants)) return undefined
    return this.#parts.names.nameOf(repositoryPath, withWants(wanted, []))
  }

  /** Writes the answer by this base; returns false, without having written, if that fails. */
  async #extend(
    base: Base,
    { repositoryPath, wanted }: FetchQuestion,
    { file, signal, timeoutMs }: Omit<WriteOptions, 'onStarted'>,
  ): Promise<boolean> {
    const { git, store, names } = this.#parts
    const { request, references } = wanted
    const { wants, version, objectFormat } = request
    const growthMax = base.first.bytes * (1 + ADDED_SHARE) - base.bytes
    if (base.extensions >= EXTENSIONS_MAX || growthMax < 0) return false
    const former = without(base.wants, wants)
    const added = without(wants, base.wants)
    // A tag may want a file that the base has left out; a branch cannot.
    const withoutFiles = hasLine(request, 'filter blob:none')
    if (withoutFiles && !added.every((oid) => references.branchAt(oid) !== undefined)) return false
    // Git uses its bitmap only if that has one of these, and the last push may be too recent.
    const known = [...new Set([...base.first.wants, ...base.wants])]
    if (!hasBitmapOf(repositoryPath, known)) return false
    // Objects that no present tip reaches must not be sent: a force push may have removed a secret.
    if (former.length > 0) {
      const question = { oids: former, tips: wants }
      const { kind } = await checkReachability(git, repositoryPath, question)
      if (kind !== 'reachable') return false
    }
    const pack = await packNewObjects(git, repositoryPath, {
      wants: added,
      known,
      withoutFiles,
      includesTags: request.includesTags,
      hasOffsetDeltas: hasLine(request, 'ofs-delta'),
      bytesMax: Math.min(growthMax, ADDED_BYTES_MAX),
      signal,
      timeoutMs,
    })
    if (pack === undefined) return false
    const key = names.nameOf(repositoryPath, withWants(wanted, base.wants))
    const stored = await store.find(key, { isLast: true })
    if (stored === undefined) return false
    const parts = { base: stored.body, added: pack, version, objectFormat }
    await writeExtendedPack(file, parts, signal)
    return true
  }
}

/** True for a fetch without commits of the client, whose answer has a complete history. */
function isCompleteClone(request: FetchRequest): boolean {
  const { version, text } = request
  if (/\n(?:(?:have|shallow|deepen[a-z-]*) |filter (?!blob:none(?:\n|$))|wait-)/.test(text)) {
    return false
  }
  return hasLine(request, 'done') && (version === 2 || hasLine(request, 'side-band-64k'))
}

function hasLine({ text }: FetchRequest, line: string): boolean {
  return text.split('\n').includes(line)
}

/** Returns the fetch with other wants. */
function withWants(wanted: Wanted, wants: readonly string[]): Wanted {
  const [version, format, ...lines] = wanted.request.text.split('\n')
  const others = lines.filter((line) => !line.startsWith('want '))
  const text = [version, format, ...wants.map((oid) => `want ${oid}`), ...others].join('\n')
  return { ...wanted, request: { ...wanted.request, wants, text } }
}

/** Returns the bases in the order of the number of other wants. */
function nearest(bases: readonly Base[], { wants }: FetchRequest): readonly Base[] {
  const distance = (base: Base) =>
    without(base.wants, wants).length + without(wants, base.wants).length
  return bases.toSorted((one, other) => distance(one) - distance(other))
}

function without(oids: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others)
  return oids.filter((oid) => !known.has(oid))
}
