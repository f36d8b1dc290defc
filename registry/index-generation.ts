/** An index as it is now: made by its first reader when something has changed, once for all. */

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../conf/failures.js'
import type { Database } from '../sql/database.js'
import {
  findGenerationFile,
  findGenerationFileByDigest,
  type GenerationFile,
  type Lease,
  leaseIndex,
  publishGeneration,
  renewIndexLease,
  returnIndexLease,
} from '../sql/index-generations.js'
import { findIndex, listEntries, listParts, type PackageIndex } from '../sql/package-indexes.js'
import type { PackageShelf } from '../sql/packages.js'
import type {
  IndexDigest,
  IndexEntry,
  IndexFile,
  IndexInput,
  IndexMaker,
  IndexOutput,
  OpenIndex,
  SigningKey,
} from './format.js'
import { type ReceivedFile, receiveFile } from './received-file.js'
import type { BlobStorage } from './storage/storage.js'

/** Whose index it is, and how it is made. */
export interface IndexPlace {
  readonly shelf: PackageShelf
  readonly subject: string
  readonly maker: IndexMaker
  readonly signingKey: () => Promise<SigningKey>
}

export interface Indexes {
  /** See `Shelf.openIndex`. */
  open(place: IndexPlace): Promise<OpenIndex | undefined>
  /** See `Shelf.findIndexFile`. */
  findFile(
    place: Omit<IndexPlace, 'maker' | 'signingKey'>,
    digest: IndexDigest,
  ): Promise<IndexFile | undefined>
}

export interface IndexesOptions {
  readonly db: Database
  readonly storage: BlobStorage
  /** How long the files of a generation can be had after the next one was made. */
  readonly keptMs: () => number
}

const LEASE_MS = 10_000
const RENEWALS = 4
/** A reader waits no longer; the build goes on, and the next one finds it. */
const PATIENCE_MS = 60_000
const PAUSE_MS = 20
const ENTRIES_AT_ONCE = 500

/** Indexes in that database, whose files are blobs like any other. */
export function createIndexes(options: IndexesOptions): Indexes {
  const { db } = options
  /** By the id of the index: what this process is making. */
  const building = new Map<number, Promise<void>>()

  const build = async (place: IndexPlace, indexId: number): Promise<void> => {
    const known = building.get(indexId)
    if (known !== undefined) return await known
    const started = buildOnce(options, place, indexId).finally(() => building.delete(indexId))
    building.set(indexId, started)
    await started
  }

  return {
    async open(place) {
      const { shelf, subject } = place
      let index = await findIndex(db, shelf, subject)
      if (index === undefined) return undefined
      const { wanted } = index
      const deadlineMs = Date.now() + PATIENCE_MS
      while (index.built < wanted) {
        if (Date.now() > deadlineMs) throw tooLate()
        await build(place, index.id)
        index = await findIndex(db, shelf, subject)
        if (index === undefined) return undefined
      }
      return openGeneration(db, index)
    },
    async findFile({ shelf, subject }, digest) {
      const index = await findIndex(db, shelf, subject)
      const found = index && (await findGenerationFileByDigest(db, index.id, digest))
      return found && { ...found, modifiedAtMs: index.modifiedAtMs }
    },
  }
}

function tooLate(): Failure {
  const message = 'The index takes long to be made. Please try again.'
  return new Failure('unavailable', message, { retryAfterSeconds: 5 })
}

function openGeneration(db: Database, index: PackageIndex): OpenIndex {
  const { id, built: generation, changedAtMs, modifiedAtMs } = index
  return {
    changedAtMs,
    async findFile(path) {
      const found: GenerationFile | undefined = await findGenerationFile(db, id, {
        ...{ generation, path },
      })
      return found && { ...found, modifiedAtMs }
    },
  }
}

/** Builds, or waits a moment while another process does. */
async function buildOnce(
  options: IndexesOptions,
  place: IndexPlace,
  indexId: number,
): Promise<void> {
  const { db } = options
  const lease = { indexId, lease: randomBytes(16).toString('hex') }
  if (!(await leaseIndex(db, lease, LEASE_MS))) {
    await sleep(PAUSE_MS)
    return
  }
  const renewing = setInterval(() => {
    // A lease that is lost shows when the generation is to be published.
    renewIndexLease(db, lease, LEASE_MS).catch(() => {})
  }, LEASE_MS / RENEWALS)
  const written = new Map<string, ReceivedFile>()
  try {
    const index = await findIndex(db, place.shelf, place.subject)
    if (index === undefined || index.built >= index.wanted) return
    await place.maker.build(inputOf(options, place, index), outputTo(options, written))
    await publishWritten(options, { lease, generation: index.wanted, written })
  } finally {
    clearInterval(renewing)
    for (const file of written.values()) await file.discard()
    await returnIndexLease(db, lease)
  }
}

function inputOf(
  { db }: IndexesOptions,
  { subject, signingKey }: IndexPlace,
  { id, changedAtMs }: PackageIndex,
): IndexInput {
  return {
    ...{ subject, changedAtMs, signingKey },
    parts: () => listParts(db, id),
    entries: (part) => entriesOf(db, id, part),
  }
}

async function* entriesOf(
  db: Database,
  indexId: number,
  part: string | undefined,
): AsyncGenerator<IndexEntry> {
  for (let afterId = 0; ; ) {
    const page = await listEntries(db, indexId, { part, afterId, limit: ENTRIES_AT_ONCE })
    yield* page
    afterId = page.at(-1)?.id ?? 0
    if (page.length < ENTRIES_AT_ONCE) return
  }
}

function outputTo({ storage }: IndexesOptions, written: Map<string, ReceivedFile>): IndexOutput {
  return {
    async write(path, chunks) {
      if (written.has(path)) throw new Error(`an index has two files ${path}`)
      const body = chunks instanceof Uint8Array ? oneChunk(chunks) : chunks
      const folder = storage.incomingFolder
      const file = await receiveFile(body, { folder, bytesMax: undefined })
      written.set(path, file)
      return { path, bytes: file.bytes, digests: file.digests }
    },
  }
}

async function* oneChunk(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk
}

interface Writing {
  readonly lease: Lease
  readonly generation: number
  readonly written: ReadonlyMap<string, ReceivedFile>
}

/** The bytes first, as with any other blob; then all of them are the index at once. */
async function publishWritten(
  { db, storage, keptMs }: IndexesOptions,
  { lease, generation, written }: Writing,
): Promise<void> {
  const files: Array<Parameters<typeof publishGeneration>[1]['files'][number]> = []
  for (const [path, { path: from, bytes, digests }] of written) {
    const key = `${digests.sha256}-${randomBytes(8).toString('hex')}`
    await storage.put(key, { path: from, bytes })
    files.push({ path, blob: { key, bytes, digests } })
  }
  const keptSinceMs = Date.now() - keptMs()
  const spare = await publishGeneration(db, { lease, generation, keptSinceMs, files })
  for (const key of spare ?? files.map(({ blob }) => blob.key)) await storage.remove(key)
}
