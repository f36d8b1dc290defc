/** An index whose entries are arrays and whose files are buffers, for tests of what makes it. */

import { createHash } from 'node:crypto'
import type { JsonObject, PackageFile } from '../../conf/package.js'
import type { IndexEntry, IndexInput, IndexOutput, SigningKey } from '../../registry/format.js'
import { collect } from './byte-chunks.js'

export interface IndexedFile {
  readonly part: string
  readonly metadata: JsonObject
  readonly packageName: string
  readonly version: string
  readonly fileName: string
  readonly bytes: Buffer
}

/** What an index says of a file that was published. */
export function anEntry({ fileName, bytes, ...rest }: IndexedFile): IndexEntry {
  const digestOf = (algorithm: string) => createHash(algorithm).update(bytes).digest('hex')
  const file: PackageFile = {
    ...{ id: 1, name: fileName, compositeKey: '', bytes: bytes.length, blobKey: '' },
    ...{ createdAtMs: 0, downloads: 0 },
    digests: {
      md5: digestOf('md5'),
      sha1: digestOf('sha1'),
      sha256: digestOf('sha256'),
      sha512: digestOf('sha512'),
    },
  }
  return { ...rest, file }
}

export interface IndexRoom {
  readonly input: IndexInput
  readonly output: IndexOutput
  /** What was written, by its path. */
  readonly written: ReadonlyMap<string, Buffer>
}

export interface IndexRoomOptions {
  readonly subject: string
  readonly changedAtMs: number
  readonly entries: readonly IndexEntry[]
  readonly key: SigningKey
}

/** An input of these entries, and an output that keeps what it is given. */
export function anIndexRoom(options: IndexRoomOptions): IndexRoom {
  const { entries, key, subject, changedAtMs } = options
  const written = new Map<string, Buffer>()
  return {
    written,
    input: {
      ...{ subject, changedAtMs, signingKey: async () => key },
      parts: async () => [...new Set(entries.map(({ part }) => part))].sort(),
      async *entries(part) {
        yield* entries.filter((entry) => part === undefined || entry.part === part)
      },
    },
    output: {
      async write(path, chunks) {
        const bytes = chunks instanceof Uint8Array ? Buffer.from(chunks) : await collect(chunks)
        written.set(path, bytes)
        const { digests } = anEntry({
          ...{ part: '', metadata: {}, packageName: '', version: '', fileName: '', bytes },
        }).file
        return { path, bytes: bytes.length, digests }
      },
    },
  }
}
