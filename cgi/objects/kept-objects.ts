/** Readers of objects that share processes and cached objects between requests. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { entriesUpTo } from '../../conf/lib/entries-up-to.js'
import type { Git } from '../process/git.js'
import { readReference } from '../refs/read-reference.js'
import { readStateOfTick } from '../repository/repository-state.js'
import type { GitObject } from './cat-file.js'
import { KeptReader } from './kept-reader.js'
import { LooseObjects } from './loose-objects.js'
import { type ObjectReader, openObjects } from './objects.js'
import { listPacks, PackedObjects } from './packed-objects.js'
import { type KnownNames, ReaderOfRequest, type SharedSources } from './reader-of-request.js'

/** Oldest git with `cat-file --batch-command`; an older one is started for each request. */
const GIT_VERSION_MIN = [2, 36] as const

/** Maximum number of processes that are kept; the least recently used one is ended. */
const READERS_MAX = 16

/** Time after which an unused process is ended. */
const IDLE_MS = 15_000

/** Interval of the checks for unused processes and for deleted files, which processes keep open. */
const SWEEP_MS = 1_000

/** Maximum size of the cached objects of all repositories, and of one of them. */
const CACHED_BYTES_MAX = 33_554_432
const CACHED_OBJECT_BYTES_MAX = 1_048_576

/** Approximate memory of a cached object besides its content. */
const ENTRY_BYTES = 300

const SIZES_MAX = 50_000
const REPOSITORIES_MAX = 1_000

/** Time after which a later change always has another time; see `repository-state.ts`. */
const SETTLED_MS = 50

/** Objects of a repository between two changes of its files of objects. */
export interface ObjectGeneration {
  /** Key prefix of the cached objects that were not read from packs. */
  readonly key: string
  /** Names of the packs. */
  readonly packs: ReadonlySet<string>
  /** Times of the folders of objects and packs. */
  readonly stamp: string
  /** False directly after a change, when another change could go unnoticed. */
  readonly isSettled: boolean
}

interface KeptRepository {
  readonly path: string
  /** Key prefix of the cached objects that were read from packs. */
  readonly key: string
  generation: ObjectGeneration
  /** Settings of git with which the process was started. */
  settingsText: string
  reader: KeptReader | undefined
  names: KnownNames | undefined
}

/** A cached value, and the pack that it was read from, which it is valid as long as. */
interface Cached<T> {
  readonly value: T
  /** Undefined for a value of one generation. */
  readonly pack: string | undefined
}

/** The processes and cached objects of one worker. */
export class KeptObjects {
  readonly #git: Git
  readonly #stallMs: number | undefined
  readonly #isSupported: boolean
  readonly #repositories = new LRUCache<string, KeptRepository>({
    max: REPOSITORIES_MAX,
    dispose: ({ reader }) => reader?.retire(),
  })
  /** Cached objects by the key of their generation, or of their repository, and full id. */
  readonly #objects = new LRUCache<string, Cached<GitObject>>({
    maxSize: CACHED_BYTES_MAX,
    sizeCalculation: ({ value: { content } }) => (content?.length ?? 0) + ENTRY_BYTES,
  })
  /** Cached sizes, likewise. */
  readonly #sizes = new LRUCache<string, Cached<number>>(entriesUpTo(SIZES_MAX))
  /** Repositories with a process, least recently used first. */
  readonly #readers = new Set<KeptRepository>()
  #generations = 0
  #opened = 0
  #sweeper: NodeJS.Timeout | undefined
  #isStopped = false

  /** Creates an empty cache. `stallMs` is the time after which a silent process is killed. */
  constructor(git: Git, { stallMs }: { readonly stallMs?: number } = {}) {
    this.#git = git
    this.#stallMs = stallMs
    const [major, minor] = git.version
    this.#isSupported = (major - GIT_VERSION_MIN[0] || minor - GIT_VERSION_MIN[1]) >= 0
  }

  /** Process ids of the kept processes. */
  get pids(): readonly number[] {
    return [...this.#readers].flatMap(({ reader }) => reader?.pid ?? [])
  }

  /**
   * Runs `use` with a reader of the repository at `path`. It finds every object that was stored
   * before the call, and none that was removed before the call.
   */
  async use<T>(path: string, use: (objects: ObjectReader) => Promise<T>): Promise<T> {
    const repository = this.#isSupported && !this.#isStopped ? this.#open(path) : undefined
    if (repository === undefined) {
      const { objects, close } = await openObjects(this.#git, path)
      return await use(objects).finally(close)
    }
    const { key, packs, isSettled } = repository.generation
    const find = <T>(cache: LRUCache<string, Cached<T>>, id: string): T | undefined => {
      const packed = cache.get(repository.key + id)
      const isValid = packed?.pack !== undefined && packs.has(packed.pack)
      return (isValid ? packed : cache.get(key + id))?.value
    }
    const shared: SharedSources = {
      readerOf: () => this.#readerOf(repository),
      namesOf: () => namesOf(repository),
      find: (id) => find(this.#objects, id),
      findSize: (id) => find(this.#sizes, id),
      remember: (object) => {
        if (isSettled) this.#remember(key, object, undefined)
      },
      // The packs are listed again before the next request, until the generation is settled.
      rememberPacked: (object, pack) => this.#remember(repository.key, object, pack),
      rememberSize: (id, sizeBytes) => {
        if (isSettled) this.#sizes.set(key + id, { value: sizeBytes, pack: undefined })
      },
    }
    const reader = new ReaderOfRequest({
      openSeparate: () => openObjects(this.#git, path),
      openPacks: () => new PackedObjects(path, packs),
      openLoose: () => new LooseObjects(path),
      readReference: (name) => readReference(path, name),
      shared,
    })
    return await use(reader).finally(() => reader.close())
  }

  /** Ends all processes. Later calls of `use` start separate ones. */
  stop(): void {
    this.#isStopped = true
    clearInterval(this.#sweeper)
    for (const repository of this.#readers) this.#retire(repository)
  }

  #remember(key: string, object: GitObject, pack: string | undefined): void {
    const { id, sizeBytes, content } = object
    this.#sizes.set(key + id, { value: sizeBytes, pack })
    if (content !== undefined && content.length <= CACHED_OBJECT_BYTES_MAX) {
      this.#objects.set(key + id, { value: object, pack })
    }
  }

  /** Returns the repository with its present generation; undefined if it cannot be kept. */
  #open(path: string): KeptRepository | undefined {
    const state = readStateOfTick(path)
    if (state === undefined) return undefined
    const { settingsText } = state
    const known = this.#repositories.get(path)
    if (known === undefined) {
      const generation = this.#generationOf(path)
      if (generation === undefined || hasAlternates(path)) return undefined
      this.#opened += 1
      const key = `repository ${this.#opened} `
      const opened = { path, key, generation, settingsText, reader: undefined, names: undefined }
      this.#repositories.set(path, opened)
      return opened
    }
    if (this.#refresh(known) === undefined) return undefined
    if (known.settingsText !== settingsText) this.#retire(known)
    known.settingsText = settingsText
    return known
  }

  /** Checks the files of objects for changes. Returns undefined if the repository is missing. */
  #refresh(repository: KeptRepository): ObjectGeneration | undefined {
    const { path, generation: former } = repository
    if (former.isSettled && stampOf(path)?.text === former.stamp) return former
    const generation = this.#generationOf(path)
    if (generation === undefined || hasAlternates(path)) {
      this.#repositories.delete(path)
      this.#retire(repository)
      return undefined
    }
    repository.generation = generation
    // The process may have deleted packs open, whose space is then not free, and whose objects it
    // would still find after they were removed for good.
    for (const name of former.packs) if (!generation.packs.has(name)) this.#retire(repository)
    return generation
  }

  #generationOf(path: string): ObjectGeneration | undefined {
    const stamp = stampOf(path)
    if (stamp === undefined) return undefined
    this.#generations += 1
    const ageMs = Date.now() - stamp.changedAtMs
    return {
      key: `${this.#generations} `,
      packs: listPacks(path),
      stamp: stamp.text,
      isSettled: ageMs > SETTLED_MS,
    }
  }

  #readerOf(repository: KeptRepository): KeptReader {
    const { reader, path } = repository
    this.#readers.delete(repository)
    this.#readers.add(repository)
    if (reader?.isOpen) return reader
    reader?.retire()
    const started = new KeptReader(this.#git, path, this.#stallMs)
    repository.reader = started
    for (const oldest of this.#readers) {
      if (this.#readers.size <= READERS_MAX) break
      this.#retire(oldest)
    }
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref()
    return started
  }

  #retire(repository: KeptRepository): void {
    repository.reader?.retire()
    repository.reader = undefined
    this.#readers.delete(repository)
  }

  #sweep(): void {
    for (const repository of this.#readers) {
      const { reader } = repository
      const isIdle = reader !== undefined && Date.now() - reader.usedAtMs > IDLE_MS
      if (isIdle || !reader?.isOpen) this.#retire(repository)
      else this.#refresh(repository)
    }
    if (this.#readers.size > 0) return
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
  }
}

/** Returns the ids of refs that are known in the present state; undefined after a recent change. */
function namesOf(repository: KeptRepository): KnownNames | undefined {
  const state = readStateOfTick(repository.path)
  if (!state?.isSettled) return undefined
  if (repository.names?.stateText !== state.text) {
    repository.names = { stateText: state.text, ids: new Map() }
  }
  return repository.names
}

interface Stamp {
  readonly text: string
  readonly changedAtMs: number
}

/** Objects are added to and removed from these folders, or a lock file is, by upkeep and prunes. */
const OBJECT_FOLDERS = ['objects', 'objects/pack'] as const

/** Returns the times of the folders of objects; undefined if one is missing. */
function stampOf(path: string): Stamp | undefined {
  let text = ''
  let changedAtMs = 0
  for (const folder of OBJECT_FOLDERS) {
    const stat = statSync(join(path, folder), { throwIfNoEntry: false })
    if (stat === undefined) return undefined
    text += `${stat.ino} ${stat.ctimeMs} `
    changedAtMs = Math.max(changedAtMs, stat.ctimeMs)
  }
  return { text, changedAtMs }
}

/** Returns true if the repository reads objects of others, whose changes are not checked. */
function hasAlternates(path: string): boolean {
  const file = join(path, 'objects', 'info', 'alternates')
  return statSync(file, { throwIfNoEntry: false }) !== undefined
}
