/** Small loose objects of one request, read without a process. */

import { createHash } from 'node:crypto'
import { closeSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { constants, inflateSync } from 'node:zlib'
import { openToRead, readPart } from '../../conf/lib/read-buffers.js'
import type { GitObject, ObjectType } from './cat-file.js'

/** Maximum size of an object. */
const OBJECT_BYTES_MAX = 262_144
/** Maximum size of its file: deflate makes bytes that it cannot compress a little longer. */
const FILE_BYTES_MAX = OBJECT_BYTES_MAX + 1_024
/** Maximum size of all objects of a request. */
const DECODED_BYTES_MAX = 4_194_304
/** Maximum number of reads of a request. */
const READS_MAX = 2_000
/** Number of deflated bytes that have the type and the size. */
const HEAD_BYTES = 64
const HEAD = /^(commit|tree|blob|tag) (0|[1-9]\d{0,9})\0/

/**
 * Reads the objects of the repository at a path that have files of their own, such as those that
 * the API wrote until upkeep packs them. What it cannot read is left to git: missing and large
 * objects, and damaged files. The digest of each object is checked.
 */
export class LooseObjects {
  readonly #folder: string
  #last: Promise<unknown> = Promise.resolve()
  #leftBytes = DECODED_BYTES_MAX
  #leftReads = READS_MAX

  constructor(path: string) {
    this.#folder = join(path, 'objects')
  }

  /** Returns an object with its content by its full id; undefined if git must read it. */
  read(id: string): Promise<GitObject | undefined> {
    // Concurrent reads run one after the other, so that only one file is in memory.
    const result = this.#last.then(() => this.#tryToRead(id))
    this.#last = result
    return result
  }

  async #tryToRead(id: string): Promise<GitObject | undefined> {
    try {
      const path = join(this.#folder, id.slice(0, 2), id.slice(2))
      const fileBytes = statSync(path, { throwIfNoEntry: false })?.size
      if (fileBytes === undefined || fileBytes > FILE_BYTES_MAX) return undefined
      if (this.#leftReads === 0) return undefined
      this.#leftReads -= 1
      return this.#decode(id, await readWhole(path, fileBytes))
    } catch {
      // Git reads the object then, and reports what is wrong with it.
      return undefined
    }
  }

  #decode(id: string, deflated: Buffer): GitObject {
    const start = inflateSync(deflated.subarray(0, HEAD_BYTES), {
      finishFlush: constants.Z_SYNC_FLUSH,
    })
    const [head = '', type, digits] = HEAD.exec(start.toString('latin1', 0, HEAD_BYTES)) ?? []
    const sizeBytes = Number(digits)
    if (head === '' || sizeBytes > Math.min(OBJECT_BYTES_MAX, this.#leftBytes)) {
      throw new Error('the object is too large, or the request reads too much')
    }
    this.#leftBytes -= sizeBytes
    const maxOutputLength = head.length + sizeBytes
    const whole = inflateSync(deflated, { maxOutputLength })
    const digest = createHash(id.length === 40 ? 'sha1' : 'sha256')
      .update(whole)
      .digest('hex')
    if (digest !== id) throw new Error('an object has another digest')
    return { id, type: type as ObjectType, sizeBytes, content: whole.subarray(head.length) }
  }
}

async function readWhole(path: string, fileBytes: number): Promise<Buffer> {
  const file = await openToRead(path)
  try {
    const bytes = Buffer.allocUnsafeSlow(fileBytes)
    const length = await readPart(file, bytes, { length: fileBytes, position: 0 })
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}
