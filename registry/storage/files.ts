/** Blob storage in files of one folder, written atomically by a rename. */

import { closeSync, fstatSync, openSync } from 'node:fs'
import { mkdir, opendir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readOnce } from '../../conf/lib/chunks.js'
import { syncFile, syncPath, unlessMissing, unlessMissingSync } from '../../conf/lib/disk.js'
import { createFolder } from '../../conf/lib/folders.js'
import { openToRead, readChunks, readSmallPart } from '../../conf/lib/read-buffers.js'
import { keyOfObject, objectNameOf } from './object-name.js'
import type { BlobStorage, ByteRange, IncomingFile, StoredBlob } from './storage.js'

/** Mode of folders with complete blobs, which a proxy of the group may send (http.sendfile). */
const SHARED_MODE = 0o750
const PRIVATE_MODE = 0o700

/** Opens the storage in a folder, which is created if it does not exist. */
export async function openFileStorage(folder: string): Promise<BlobStorage> {
  const incomingFolder = join(folder, 'incoming')
  await makeFolder(folder, SHARED_MODE)
  await makeFolder(incomingFolder, PRIVATE_MODE)
  const pathOf = (key: string) => join(folder, objectNameOf(key))
  const durable = new Set<string>()
  return {
    incomingFolder,
    put: async (key, file) => moveIntoPlace(file, { folder, place: pathOf(key), durable }),
    open: async (key, range) => readFile(pathOf(key), range),
    pathOf,
    sizeOf: async (key) => (await unlessMissing(stat(pathOf(key))))?.size,
    remove: async (key) => rm(pathOf(key), { force: true }),
    list: () => listFiles(folder),
    directUrl: async () => undefined,
  }
}

/** Creates a folder with its parents and flushes their directory entries to the disk. */
async function makeFolder(folder: string, mode: number): Promise<void> {
  for (const created of await createFolder(folder, { mode, setting: 'blobs.url' })) {
    await syncPath(dirname(created))
  }
}

interface Move {
  readonly folder: string
  /** Target path, two folders below `folder`. */
  readonly place: string
  /** Folders of blobs whose own entries this process has flushed. */
  readonly durable: Set<string>
}

/**
 * Moves a file before it is flushed, because most file systems then write both to the disk at the
 * same time. A crash can leave an incomplete blob, to which nothing refers yet.
 */
async function moveIntoPlace({ path, bytes }: IncomingFile, move: Move): Promise<void> {
  const { place, durable } = move
  const inner = dirname(place)
  let file: number | undefined
  let isMoved = false
  try {
    file = openSync(path, 'r')
    if (fstatSync(file).size !== bytes) throw new Error(`${path} does not have ${bytes} bytes`)
    if (!durable.has(inner)) await mkdir(inner, { recursive: true, mode: SHARED_MODE })
    await rename(path, place)
    isMoved = true
    await syncFile(file)
    await syncFolders(inner, move)
  } catch (error) {
    durable.delete(inner)
    await rm(isMoved ? place : path, { force: true }).catch(() => {})
    throw error
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

async function syncFolders(inner: string, { folder, durable }: Move): Promise<void> {
  if (durable.has(inner)) return await syncPath(inner)
  // The outer folders too, because another put can have created one and not flushed it yet.
  await Promise.all([inner, dirname(inner), folder].map(syncPath))
  durable.add(inner)
}

/** Size up to which a range is read when it is opened, without a pooled buffer. */
const SMALL_BYTES_MAX = 16_384

async function readFile(path: string, range: ByteRange): Promise<AsyncIterable<Uint8Array>> {
  const small = range.end - range.start <= SMALL_BYTES_MAX ? readSmall(path, range) : undefined
  if (small !== undefined) return oneChunk(small)
  const file = await unlessMissing(openToRead(path))
  if (file === undefined) throw new Error(`the blob ${path} is missing`)
  let isClosed = false
  const end = () => {
    if (isClosed) return
    isClosed = true
    closeSync(file)
  }
  const cutShort = () => new Error(`the blob ${path} is shorter than it was`)
  const chunks = readChunks(file, { ...range, cutShort })
  const next = async () => {
    try {
      const result = await chunks.next()
      if (result.done) end()
      return result
    } catch (error) {
      end()
      throw error
    }
  }
  return readOnce(next, async () => {
    await chunks.return()
    end()
  })
}

/** Returns the bytes of a range; undefined if they cannot be read synchronously. */
function readSmall(path: string, { start, end }: ByteRange): Uint8Array | undefined {
  const bytes = Buffer.allocUnsafe(end - start)
  const read = unlessMissingSync(() => ({ length: readSmallPart(path, bytes, start) }))
  if (read === undefined) throw new Error(`the blob ${path} is missing`)
  if (read.length === undefined) return undefined
  if (read.length !== bytes.byteLength) throw new Error(`the blob ${path} is shorter than it was`)
  return bytes
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.byteLength > 0) yield bytes
}

const FOLDER = /^[0-9a-f]{2}$/

async function* listFiles(folder: string): AsyncGenerator<StoredBlob> {
  for await (const outer of entriesOf(folder, FOLDER)) {
    for await (const inner of entriesOf(join(folder, outer), FOLDER)) {
      for await (const name of entriesOf(join(folder, outer, inner), /^/)) {
        const key = keyOfObject(`${outer}/${inner}/${name}`)
        const path = join(folder, outer, inner, name)
        const found = key === undefined ? undefined : await unlessMissing(stat(path))
        if (key !== undefined && found !== undefined) {
          yield { key, writtenAtMs: found.mtimeMs, bytes: found.size }
        }
      }
    }
  }
}

async function* entriesOf(folder: string, pattern: RegExp): AsyncGenerator<string> {
  const entries = await unlessMissing(opendir(folder))
  if (entries === undefined) return
  for await (const { name } of entries) if (pattern.test(name)) yield name
}
