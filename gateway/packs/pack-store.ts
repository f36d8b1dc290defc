/** Store of git's answers: on disk for all workers, and the small ones also in memory. */

import { closeSync, statSync } from 'node:fs'
import { mkdir, stat, statfs, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beginWith, readOnce } from '../../conf/lib/chunks.js'
import { unlessMissing } from '../../conf/lib/disk.js'
import type { Log } from '../../conf/log.js'
import { type Removal, removeOldAnswers } from './old-answers.js'
import {
  openPack,
  type PackFile,
  packIdentity,
  placePack,
  readPack,
  removePack,
} from './pack-file.js'

export interface PackStoreOptions {
  /** Folder on a local disk that holds nothing else; its files may be removed at any time. */
  readonly folder: string
  /** Maximum bytes of all answers on disk; if zero, nothing is stored. */
  readonly diskBytesMax: number
  /** Bytes that must stay free on the disk; answers that would take them are not stored. */
  readonly diskBytesFree: number
  /** Maximum memory of the answers that this process also holds, in bytes. */
  readonly memoryBytesMax: number
  /** Maximum size of one of them. */
  readonly heldBytesMax: number
  /**
   * Time after its last use in which an answer is not removed to free space: a proxy that received
   * its path may be about to open it.
   */
  readonly graceMs: number
}

/** An answer that was found in the store. */
export interface StoredPack {
  readonly bytes: number
  /**
   * Bytes of the answer. A stream must be read to its end or returned from; it throws DamagedPack
   * if the file turns out to be damaged.
   */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>
  /** Returns the path of an undamaged file with exactly these bytes, if there is one. */
  readonly file: () => string | undefined
}

/** Minimum interval between updates of one answer's last use, because each update is a write. */
const TOUCH_INTERVAL_MS = 60_000
const NOTES_MAX = 10_000
const FREE_SPACE_READ_INTERVAL_MS = 1_000
/** Pause after a full disk, because each failed write breaks the answers of all its readers. */
const FULL_PAUSE_MS = 60_000
const SWEEP_INTERVAL_MS = 5_000
/** Minimum time between sweeps, as a multiple of the last one's time: a sweep reads all names. */
const SWEEP_REST = 50
/** Share of `diskBytesMax` that a worker may store before it sweeps ahead of the interval. */
const SWEEP_SHARE = 1 / 32
/** Share of `memoryBytesMax` up to which an answer is held in memory from its first use on. */
const MEMORY_SHARE = 0.5
/** Approximate memory that an answer takes beside its bytes, for its key and its buffer. */
const ENTRY_BYTES = 700
const FOLDER_MODE = 0o750

/** The stored answers in one folder, by their cache keys. */
export class PackStore {
  readonly #options: PackStoreOptions
  readonly #log: Log
  readonly #touchIntervalMs: number
  /** Answers by key, the least recently used first. */
  readonly #memory = new Map<string, Uint8Array>()
  readonly #loading = new Map<string, Promise<Uint8Array>>()
  /** Identities of files that were read to their end without damage, by key. */
  readonly #checked = new Map<string, string>()
  readonly #touchedAtMs = new Map<string, number>()
  #memoryBytes = 0
  /** Key of the long answer that was used last; see `#isWorthMemory`. */
  #lastLong: string | undefined
  #freeSpace = { freeBytes: 0, readAtMs: 0 }
  #fullUntilMs = 0
  #sweptAtMs = 0
  #sweepPauseMs = SWEEP_INTERVAL_MS
  #keptBytes = 0

  constructor(options: PackStoreOptions, log: Log) {
    this.#options = options
    this.#log = log
    this.#touchIntervalMs =
      options.graceMs === 0 ? TOUCH_INTERVAL_MS : Math.min(TOUCH_INTERVAL_MS, options.graceMs / 2)
  }

  /** Memory of the answers that are held, in bytes. */
  get memoryBytes(): number {
    return this.#memoryBytes
  }

  /** Returns the answer with this key if it is in memory. */
  held(key: string): StoredPack | undefined {
    const known = this.#memory.get(key)
    if (known === undefined) return undefined
    this.#memory.delete(key)
    this.#memory.set(key, known)
    this.#touch(key)
    return this.#storedInMemory(key, known)
  }

  /**
   * Returns the answer with this key, if any. Removes a damaged or unreadable file. If `isLast` is
   * true, no further request is expected, so the answer is not loaded into memory.
   */
  async find(key: string, { isLast = false } = {}): Promise<StoredPack | undefined> {
    const held = this.held(key)
    if (held !== undefined) return held
    try {
      return await this.#findOnDisk(key, isLast)
    } catch (error) {
      await this.#discard(key, error)
      return undefined
    }
  }

  /**
   * Returns true if the disk has space for an answer of about `bytes` bytes. The free space may be
   * out of date by a second.
   */
  async canFit(bytes: number): Promise<boolean> {
    const { folder, diskBytesFree, diskBytesMax } = this.#options
    if (diskBytesMax === 0 || Date.now() < this.#fullUntilMs) return false
    if (Date.now() - this.#freeSpace.readAtMs > FREE_SPACE_READ_INTERVAL_MS) {
      const freeBytes = await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
        .then(() => statfs(folder))
        .then(({ bavail, bsize }) => bavail * bsize)
        .catch(() => 0)
      this.#freeSpace = { freeBytes, readAtMs: Date.now() }
    }
    return this.#freeSpace.freeBytes >= diskBytesFree + bytes
  }

  /** Records that an answer did not fit, after which `canFit` returns false for a minute. */
  noteFull(): void {
    this.#fullUntilMs = Date.now() + FULL_PAUSE_MS
  }

  /** Moves the file of a complete answer into the store, under this key. */
  async keep(key: string, part: { readonly path: string; readonly bytes: number }): Promise<void> {
    const path = this.#pathOf(key)
    await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE })
    await placePack(part, path)
    const placed = await unlessMissing(stat(path))
    if (placed !== undefined) this.#noteChecked(key, packIdentity(placed))
    this.#keptBytes += part.bytes
    await this.#sweep(path)
  }

  /** Removes the least recently used answers until the disk has `diskBytesFree` bytes free. */
  async evictToFit(): Promise<void> {
    if (Date.now() - this.#sweptAtMs < SWEEP_INTERVAL_MS) return
    const { folder, diskBytesFree } = this.#options
    const space = await unlessMissing(statfs(folder))
    if (space === undefined) return
    const missingBytes = diskBytesFree - space.bavail * space.bsize
    if (missingBytes > 0) await this.#removeOldest({ missingBytes })
  }

  async #findOnDisk(key: string, isLast: boolean): Promise<StoredPack | undefined> {
    const loading = this.#loading.get(key)
    if (loading !== undefined) return this.#storedInMemory(key, await loading)
    const pack = openPack(this.#pathOf(key), this.#checked.get(key))
    if (pack === undefined) return undefined
    this.#touch(key)
    const { bytes } = pack
    if (isLast || !this.#isWorthMemory(key, bytes)) {
      return { bytes, body: await this.#stream(key, pack), file: () => this.#checkedFile(key) }
    }
    const loaded = this.#load(key, pack).finally(() => this.#loading.delete(key))
    this.#loading.set(key, loaded)
    return this.#storedInMemory(key, await loaded)
  }

  /**
   * Returns true if an answer should be held in memory. A long one takes the place of most others,
   * so it must be used twice without another long one in between.
   */
  #isWorthMemory(key: string, bytes: number): boolean {
    const { memoryBytesMax, heldBytesMax } = this.#options
    if (bytes <= memoryBytesMax * MEMORY_SHARE) return true
    const isRepeated = this.#lastLong === key
    this.#lastLong = key
    return isRepeated && bytes + ENTRY_BYTES <= heldBytesMax
  }

  #storedInMemory(key: string, bytes: Uint8Array): StoredPack {
    return { bytes: bytes.byteLength, body: bytes, file: () => this.#checkedFile(key) }
  }

  /** Returns the path of an answer if its file is one that this process has checked. */
  #checkedFile(key: string): string | undefined {
    const checked = this.#checked.get(key)
    if (checked === undefined) return undefined
    const path = this.#pathOf(key)
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats !== undefined && packIdentity(stats) === checked ? path : undefined
  }

  async #load(key: string, pack: PackFile): Promise<Uint8Array> {
    try {
      const bytes = Buffer.allocUnsafeSlow(pack.bytes)
      let position = 0
      for await (const chunk of readPack(pack)) {
        bytes.set(chunk, position)
        position += chunk.byteLength
      }
      this.#noteChecked(key, pack.identity)
      this.#remember(key, bytes)
      return bytes
    } finally {
      closeSync(pack.file)
    }
  }

  #remember(key: string, bytes: Uint8Array): void {
    this.#memory.set(key, bytes)
    this.#memoryBytes += bytes.byteLength + ENTRY_BYTES
    for (const [oldest, { byteLength }] of this.#memory) {
      if (this.#memoryBytes <= this.#options.memoryBytesMax) return
      this.#memory.delete(oldest)
      this.#memoryBytes -= byteLength + ENTRY_BYTES
    }
  }

  /**
   * Returns the bytes of a file as a stream. If the file has not been checked, reads its first
   * chunk, so that damage there counts as a miss.
   */
  async #stream(key: string, pack: PackFile): Promise<AsyncIterable<Uint8Array>> {
    const chunks = readPack(pack)
    let next = () => chunks.next()
    if (pack.checksums !== undefined) {
      const first = await next().catch((error: unknown) => {
        closeSync(pack.file)
        throw error
      })
      next = beginWith(first, () => chunks.next())
    }
    let isOpen = true
    let bytesLeft = pack.bytes
    const close = async () => {
      if (!isOpen) return
      isOpen = false
      await chunks.return(undefined)
      closeSync(pack.file)
    }
    const read = async () => {
      try {
        const result = await next()
        if (result.done) await close()
        else bytesLeft -= result.value.byteLength
        // A reader that knows the length does not request a chunk after the last byte.
        if (bytesLeft === 0) this.#noteChecked(key, pack.identity)
        return result
      } catch (error) {
        await close()
        await this.#discard(key, error)
        throw error
      }
    }
    return readOnce(read, close)
  }

  #noteChecked(key: string, identity: string): void {
    if (this.#checked.size > NOTES_MAX) this.#checked.clear()
    this.#checked.set(key, identity)
  }

  async #discard(key: string, error: unknown): Promise<void> {
    this.#log.error({ error, key }, 'stored answer is damaged and is removed')
    await removePack(this.#pathOf(key)).catch(() => {})
  }

  #touch(key: string): void {
    const now = Date.now()
    if (now - (this.#touchedAtMs.get(key) ?? 0) < this.#touchIntervalMs) return
    if (this.#touchedAtMs.size > NOTES_MAX) this.#touchedAtMs.clear()
    this.#touchedAtMs.set(key, now)
    const path = this.#pathOf(key)
    // The modification time stays because it identifies the file. An error means that the file was
    // removed in the meantime, so it needs no update.
    stat(path)
      .then(({ mtime }) => utimes(path, new Date(now), mtime))
      .catch(() => {})
  }

  /** Removes the least recently used answers beyond `diskBytesMax` from time to time. */
  async #sweep(newestPath: string): Promise<void> {
    const now = Date.now()
    const isMuch = this.#keptBytes > this.#options.diskBytesMax * SWEEP_SHARE
    if (!isMuch && now - this.#sweptAtMs < this.#sweepPauseMs) return
    await this.#removeOldest({ newestPath })
  }

  async #removeOldest({
    newestPath,
    missingBytes = 0,
  }: Partial<Pick<Removal, 'newestPath' | 'missingBytes'>>): Promise<void> {
    const now = Date.now()
    this.#sweptAtMs = now
    this.#keptBytes = 0
    const { folder, diskBytesMax, graceMs } = this.#options
    await removeOldAnswers(folder, { diskBytesMax, missingBytes, graceMs, newestPath })
    this.#sweepPauseMs = Math.max(SWEEP_INTERVAL_MS, SWEEP_REST * (Date.now() - now))
  }

  #pathOf(key: string): string {
    return answerPath(this.#options.folder, key)
  }
}

/** Returns the path of an answer, in a subfolder named by the first two characters of its key. */
export function answerPath(folder: string, key: string): string {
  return join(folder, key.slice(0, 2), key)
}
