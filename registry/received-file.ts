/** Receiving a request body into a temporary file, with its digests. */

import { randomBytes } from 'node:crypto'
import { close, closeSync, existsSync, open } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Failure } from '../conf/failures.js'
import type { Digests } from '../conf/package.js'
import { BatchWriter } from './batch-writer.js'
import { byteSourceOf } from './byte-file.js'
import type { StartRemoteDigests } from './digests.js'
import type { Upload } from './package-store.js'

/** A received file, which its owner must discard. */
export interface ReceivedFile extends Upload {
  readonly path: string
  /** Closes the file, and removes it if it was not moved. */
  discard(): Promise<void>
}

export interface ReceiveOptions {
  readonly folder: string
  /** Maximum size; undefined for no limit. */
  readonly bytesMax: number | undefined
  /** Starts the digests of a body that is not small. */
  readonly digest: StartRemoteDigests
}

const openFile = promisify(open)
const closeFile = promisify(close)

export const SIZE_EXCEEDED = 'maximum allowed package type size exceeded'

/**
 * Receives a body into a new file. Throws `forbidden` as soon as it is too large, and the system's
 * error if the disk is full. The file is removed if this throws.
 */
export async function receiveFile(
  body: AsyncIterable<Uint8Array>,
  { folder, bytesMax = Number.POSITIVE_INFINITY, digest }: ReceiveOptions,
): Promise<ReceivedFile> {
  const path = join(folder, randomBytes(16).toString('hex'))
  const file = await openFile(path, 'wx+', 0o640)
  try {
    const { bytes, digests } = await copyInto(new BatchWriter(file, digest), body, bytesMax)
    return {
      path,
      digests,
      ...byteSourceOf(file, bytes),
      discard: () => discard(file, path),
    }
  } catch (error) {
    await discard(file, path)
    throw error
  }
}

async function copyInto(
  writer: BatchWriter,
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<{ readonly bytes: number; readonly digests: Digests }> {
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) throw new Failure('forbidden', SIZE_EXCEEDED)
      await writer.add(chunk)
    }
    return { bytes, digests: await writer.end() }
  } finally {
    await writer.drop()
  }
}

/** Closes a file, and removes it if it was not moved. */
async function discard(file: number, path: string): Promise<void> {
  // Closes a file that was kept synchronously, because this does not wait for the disk.
  if (!existsSync(path)) return closeSync(file)
  await rm(path, { force: true })
  await closeFile(file)
}
