/** What an index is made of, and what is made of it, in memory. */

import type { JsonObject } from '../../conf/package.js'
import type { IndexEntry, IndexInput, IndexMaker, SigningKey } from '../../registry/format.js'
import { collect } from './byte-chunks.js'

export interface EntryOptions {
  readonly part?: string
  readonly packageName?: string
  readonly version?: string
  readonly bytes?: number
  readonly metadata?: JsonObject
}

/** An entry, with a file that is nowhere. */
export function indexEntry(options: EntryOptions = {}): IndexEntry {
  const { part = 'x86_64', packageName = 'hello', version = '1.0-r0' } = options
  const digests = { md5: '', sha1: '', sha256: '', sha512: '' }
  return {
    ...{ part, packageName, version, metadata: options.metadata ?? { C: 'Q1x=' } },
    file: {
      ...{ id: 1, name: `${packageName}-${version}.apk`, compositeKey: '', blobKey: '', digests },
      ...{ bytes: options.bytes ?? 1, createdAtMs: 0, downloads: 0 },
    },
  }
}

/** The files that are made of these entries, by their paths. */
export async function buildIndex(
  maker: IndexMaker,
  entries: readonly IndexEntry[],
  signingKey: () => Promise<SigningKey>,
): Promise<Readonly<Record<string, Buffer>>> {
  const files: Record<string, Buffer> = {}
  const input: IndexInput = {
    ...{ subject: 'v3.20/main', changedAtMs: 1_750_000_000_000, signingKey },
    async *entries(part) {
      yield* entries.filter((entry) => part === undefined || entry.part === part)
    },
    parts: async () => [...new Set(entries.map(({ part }) => part))].sort(),
  }
  await maker.build(input, {
    async write(path, chunks) {
      if (path in files) throw new Error(`${path} is written twice`)
      const bytes = chunks instanceof Uint8Array ? Buffer.from(chunks) : await collect(chunks)
      files[path] = bytes
      return { path, bytes: bytes.length, digests: { md5: '', sha1: '', sha256: '', sha512: '' } }
    },
  })
  return files
}
