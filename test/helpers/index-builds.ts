/** Package indexes, built by the server's code from entries that are not in a database. */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { JsonObject, PackageFile } from '../../conf/package.js'
import type { IndexEntry, IndexMaker, SigningKey } from '../../registry/index-maker.js'
import { openIndexFiles } from '../../registry/indexing/files.js'
import { createPrefixes } from '../../registry/indexing/prefixes.js'
import type { Keyed } from '../../registry/indexing/runs.js'
import { openScratch } from '../../registry/indexing/scratch.js'
import { joinTexts, makeRuns } from '../../registry/indexing/texts.js'
import { openFileStorage } from '../../registry/storage/files.js'
import { temporaryFolder } from './temporary.js'

export interface IndexedFile {
  readonly part: string
  readonly metadata: JsonObject
  readonly packageName: string
  readonly version: string
  readonly fileName: string
  readonly bytes: Buffer
}

/** Returns the index entry of a published file. */
export function anEntry({ fileName, bytes, ...rest }: IndexedFile): IndexEntry {
  const digestOf = (algorithm: string) => createHash(algorithm).update(bytes).digest('hex')
  const file: PackageFile = {
    id: 1,
    name: fileName,
    compositeKey: '',
    bytes: bytes.length,
    blobKey: '',
    createdAtMs: 0,
    downloads: 0,
    digests: {
      md5: digestOf('md5'),
      sha1: digestOf('sha1'),
      sha256: digestOf('sha256'),
      sha512: digestOf('sha512'),
    },
  }
  return { ...rest, file }
}

export interface BuildInputs {
  readonly subject?: string
  readonly changedAtMs?: number
  readonly validMs?: number
  readonly signingKeys?: () => Promise<readonly SigningKey[]>
  /** Returns the sort key of an entry; by default the given order is kept. */
  readonly keyOf?: (entry: IndexEntry) => string
  /** Compressor; by default there is none. */
  readonly compressXz?: ((bytes: Uint8Array) => Promise<Uint8Array>) | undefined
}

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

/** Builds the index of these entries; returns its files by path. */
export async function buildIndex(
  t: Teardown,
  maker: IndexMaker,
  entries: readonly IndexEntry[],
  inputs: BuildInputs = {},
): Promise<ReadonlyMap<string, Buffer>> {
  const { subject = 'stable', changedAtMs = 0, validMs, compressXz } = inputs
  const { signingKeys = noKeys } = inputs
  const keyOf = inputs.keyOf ?? (() => '')
  const storage = await openFileStorage(await temporaryFolder(t))
  const scratch = await openScratch(storage.incomingFolder)
  const files = openIndexFiles({ storage, scratch, prefixes: createPrefixes() })
  try {
    const runs = await makeRuns(
      {
        maker,
        subject,
        scratch,
        compressXz,
        parts: async () => [...new Set(entries.map(({ part }) => part))].sort(),
        entries: () => inOrder(entries, keyOf),
      },
      undefined,
    )
    const texts = joinTexts(runs)
    if (texts.size > 0) {
      await maker.build({ subject, changedAtMs, validMs, texts, signingKeys }, files)
    }
    const read = new Map<string, Buffer>()
    for (const { path, file } of files.written.values()) read.set(path, await readFile(file))
    return read
  } finally {
    await files.discard()
    await scratch.close()
  }
}

async function noKeys(): Promise<never> {
  throw new Error('unexpected request for a signing key')
}

async function* inOrder(
  entries: readonly IndexEntry[],
  keyOf: (entry: IndexEntry) => string,
): AsyncGenerator<IndexEntry & Keyed> {
  const keyed = entries.map((entry) => ({ ...entry, key: keyOf(entry) }))
  yield* keyed.toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
}
