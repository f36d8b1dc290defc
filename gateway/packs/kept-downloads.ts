/** Archives and bundles, which are stored beside the answers to clones while they are sent. */

import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Git } from '../../cgi/process/git.js'
import { readPresentState } from '../../cgi/repository/repository-state.js'
import { readOnce } from '../../conf/lib/chunks.js'
import type { Log } from '../../conf/log.js'
import { answersPrefix, gitDigestOf } from './answer-names.js'
import type { PackStore, StoredPack } from './pack-store.js'

/** Everything that a download depends on, besides git and the settings of the repository. */
export interface DownloadInput {
  readonly repositoryPath: string
  /** Kind of the download, its full object ids, and its other arguments. */
  readonly words: readonly string[]
}

/** A download that is sent for the first time, or again because it is not stored. */
export interface NewDownload {
  readonly key: string
  /** Length, if it is known: the reader then does not request a chunk after the last byte. */
  readonly bytes?: number | undefined
  /** Returns the key for the present repository. If it has changed, nothing is stored. */
  readonly presentKey: () => Promise<string | undefined>
}

export interface KeptDownloadsOptions {
  readonly git: Git
  readonly log: Log
  readonly store: PackStore
  /** Folder of unfinished files, on the disk of the store. */
  readonly folder: string
  /** Maximum size of a download; longer ones are not stored. */
  readonly bytesMax: number
}

/** Maximum number of keys that are remembered as requested. */
const REQUESTED_MAX = 10_000
/** Maximum number of files that this process writes: each may be open as long as its client. */
const FILES_MAX = 16

/**
 * Downloads that are stored from the second request of a process on. A crawler requests each
 * archive once, and would otherwise evict the answers to clones.
 */
export class KeptDownloads {
  readonly #options: KeptDownloadsOptions
  readonly #gitDigest: string
  readonly #requested = new Set<string>()
  /** Keys of the downloads that are being stored. */
  readonly #keysInWork = new Set<string>()
  #counter = 0

  constructor(options: KeptDownloadsOptions) {
    this.#options = options
    this.#gitDigest = gitDigestOf(options.git)
  }

  /** Returns the key of a download; undefined if changes of the repository would not be seen. */
  keyOf({ repositoryPath, words }: DownloadInput): string | undefined {
    const state = readPresentState(repositoryPath)
    if (state === undefined) return undefined
    const parts = [this.#gitDigest, repositoryPath, state.settingsText, 'download', words]
    const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
    return answersPrefix(repositoryPath) + digest
  }

  /** Returns the stored download with this key, if any. */
  find(key: string): Promise<StoredPack | undefined> {
    return this.#options.store.find(key)
  }

  /**
   * Returns the chunks, and stores them as they are read if the key was requested before. A full
   * disk ends the storing and not the download.
   */
  keep(chunks: AsyncIterable<Uint8Array>, download: NewDownload): AsyncIterable<Uint8Array> {
    const { key, bytes } = download
    const isNew = !this.#requested.has(key)
    if (this.#requested.size >= REQUESTED_MAX) this.#requested.clear()
    this.#requested.add(key)
    const isBusy = this.#keysInWork.size >= FILES_MAX || this.#keysInWork.has(key)
    if (isNew || isBusy) return chunks
    this.#keysInWork.add(key)
    this.#counter += 1
    const name = `${key}.${process.pid}-${this.#counter}.part`
    const file = new PartFile(join(this.#options.folder, name))
    const source = chunks[Symbol.asyncIterator]()
    let isOver = false
    const end = (isWhole: boolean) => {
      if (!isOver) void this.#end(file, download, isWhole)
      isOver = true
    }
    const next = async () => {
      try {
        const result = await source.next()
        if (result.done) end(true)
        else await this.#write(file, result.value)
        return result
      } catch (error) {
        end(false)
        throw error
      }
    }
    return readOnce(next, async () => {
      end(file.bytes === bytes)
      await source.return?.()
    })
  }

  async #write(file: PartFile, chunk: Uint8Array): Promise<void> {
    if (file.isGivenUp) return
    const { store, bytesMax, log } = this.#options
    try {
      const isSmall = file.bytes + chunk.byteLength <= bytesMax
      if (isSmall && (await store.canFit(0))) await file.write(chunk)
      else await file.giveUp()
    } catch (error) {
      store.noteFull()
      log.warn({ error, path: file.path }, 'file of a download could not be written')
      await file.giveUp().catch(() => {})
    }
  }

  async #end(file: PartFile, { key, presentKey }: NewDownload, isWhole: boolean): Promise<void> {
    try {
      const isKept = isWhole && !file.isGivenUp && (await presentKey()) === key
      if (isKept) await this.#options.store.keep(key, await file.close())
      else await file.giveUp()
    } catch (error) {
      this.#options.log.warn({ error, path: file.path }, 'download was not stored')
      await file.giveUp().catch(() => {})
    } finally {
      this.#keysInWork.delete(key)
    }
  }
}

/** An unfinished file, which is created by the first write. */
class PartFile {
  readonly path: string
  bytes = 0
  isGivenUp = false
  #handle: FileHandle | undefined

  constructor(path: string) {
    this.path = path
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#handle ??= await this.#create()
    await this.#handle.writeFile(chunk)
    this.bytes += chunk.byteLength
  }

  async #create(): Promise<FileHandle> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o750 })
    return await open(this.path, 'wx', 0o640)
  }

  async close(): Promise<PartFile> {
    await this.#handle?.close()
    this.#handle = undefined
    return this
  }

  /** Removes the file. */
  async giveUp(): Promise<void> {
    this.isGivenUp = true
    await this.close()
    await rm(this.path, { force: true })
  }
}
