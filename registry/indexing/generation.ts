/** Generations of an index: the first reader after a change builds the next one for all. */

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../conf/failures.js'
import type { Database } from '../../sql/database/database.js'
import {
  findGenerationFile,
  findGenerationFileByDigest,
  type GenerationFile,
  type Lease,
  leaseIndex,
  listGenerationFiles,
  publishGeneration,
  renewIndexLease,
  returnIndexLease,
} from '../../sql/packages/index-generations.js'
import {
  type EntryPosition,
  findIndex,
  listChangedKeys,
  listEntries,
  listParts,
  type PackageIndex,
  touchIndex,
} from '../../sql/packages/package-indexes.js'
import type { PackageNamespace } from '../../sql/packages/packages.js'
import type { IndexMaker, SigningKey } from '../index-maker.js'
import type { IndexDigest, IndexFile, OpenIndex } from '../package-store.js'
import type { BlobStorage } from '../storage/storage.js'
import { openIndexFiles, type WrittenIndexFile } from './files.js'
import { LAYOUT_PATH, readLayout, writeLayout } from './layout.js'
import { createPrefixes, type Prefixes } from './prefixes.js'
import { openScratch, type Scratch } from './scratch.js'
import {
  joinTexts,
  type KeyRange,
  makeRuns,
  type PreviousRuns,
  type Runs,
  type Workspace,
  wantedForms,
} from './texts.js'

/** An index, and the means to build it. */
export interface IndexSource {
  readonly namespace: PackageNamespace
  readonly subject: string
  readonly maker: IndexMaker
  /** Time for which the files are valid; undefined for no limit. */
  readonly validMs: number | undefined
  readonly signingKeys: () => Promise<readonly SigningKey[]>
}

export interface Indexes {
  /** See `PackageStore.openIndex`. */
  open(place: IndexSource): Promise<OpenIndex | undefined>
  /** See `PackageStore.findIndexFile`. */
  findFile(
    place: Pick<IndexSource, 'namespace' | 'subject'>,
    digest: IndexDigest,
  ): Promise<IndexFile | undefined>
}

export interface IndexesOptions {
  readonly db: Database
  readonly storage: BlobStorage
  /** Time for which the files of a generation remain readable after the next one is published. */
  readonly keptMs: () => number
  /** Compresses with the program xz; undefined if it is not installed. */
  readonly compressXz: Workspace['compressXz']
}

const LEASE_MS = 3_000
/** Number of renewals within the duration of a lease. */
const RENEWALS = 4
/** Maximum time for which a reader waits. The build continues, so a later reader finds it. */
const PATIENCE_MS = 60_000
const PAUSE_MS = 20
const PAGE_ENTRIES = 500

/** The means to write the files of an index. */
export interface FileContext extends Omit<IndexesOptions, 'keptMs'> {
  readonly prefixes: Prefixes
}

type BuildContext = FileContext & IndexesOptions

/** Creates access to the indexes of a database, whose files are stored as blobs. */
export function createIndexes(options: IndexesOptions): Indexes {
  const { db } = options
  const context = { ...options, prefixes: createPrefixes() }
  /** Running builds of this process by index id. */
  const building = new Map<number, Promise<void>>()

  const build = async (place: IndexSource, indexId: number): Promise<void> => {
    const known = building.get(indexId)
    if (known !== undefined) return await known
    const started = buildOnce(context, place, indexId).finally(() => building.delete(indexId))
    building.set(indexId, started)
    await started
  }

  return {
    async open(place) {
      const { namespace, subject } = place
      let index = await findIndex(db, namespace, subject)
      if (index === undefined) return undefined
      if (mustRenew(index, place)) index = await renew(db, place, index)
      const { wanted } = index
      const deadlineMs = Date.now() + PATIENCE_MS
      while (index.built < wanted) {
        if (Date.now() > deadlineMs) throw tooLate()
        await build(place, index.id)
        index = await findIndex(db, namespace, subject)
        if (index === undefined) return undefined
      }
      return openGeneration(db, index)
    },
    async findFile({ namespace, subject }, digest) {
      const index = await findIndex(db, namespace, subject)
      const found = index && (await findGenerationFileByDigest(db, index.id, digest))
      return found && { ...found, modifiedAtMs: index.modifiedAtMs }
    },
  }
}

/** Returns true if half of the validity has passed, or if the files have another validity. */
function mustRenew(
  { wanted, built, validMs, changedAtMs }: PackageIndex,
  { validMs: wantedMs }: IndexSource,
): boolean {
  if (wanted === 0) return false
  // A change that no client has read yet can be as old as the files.
  if (wantedMs !== undefined && Date.now() >= changedAtMs + wantedMs / 2) return true
  return built === wanted && validMs !== wantedMs
}

async function renew(
  db: Database,
  { namespace, subject }: IndexSource,
  index: PackageIndex,
): Promise<PackageIndex> {
  await touchIndex(db, index)
  return (await findIndex(db, namespace, subject)) ?? index
}

function tooLate(): Failure {
  const message = 'The index is still being built. Try again in a few seconds.'
  return new Failure('unavailable', message, { retryAfterSeconds: 5 })
}

function openGeneration(db: Database, index: PackageIndex): OpenIndex {
  const { id, built: generation, changedAtMs, modifiedAtMs } = index
  return {
    changedAtMs,
    async findFile(path) {
      const found: GenerationFile | undefined = await findGenerationFile(db, id, {
        generation,
        path,
      })
      return found && { ...found, modifiedAtMs }
    },
  }
}

/** Builds the next generation, or waits 20 ms if another process is building it. */
async function buildOnce(
  context: BuildContext,
  place: IndexSource,
  indexId: number,
): Promise<void> {
  const { db } = context
  const lease = { indexId, lease: randomBytes(16).toString('hex') }
  if (!(await leaseIndex(db, lease, LEASE_MS))) {
    await sleep(PAUSE_MS)
    return
  }
  const renewing = setInterval(() => {
    // A lost lease is detected when the generation is published.
    renewIndexLease(db, lease, LEASE_MS).catch(() => {})
  }, LEASE_MS / RENEWALS)
  try {
    const index = await findIndex(db, place.namespace, place.subject)
    if (index === undefined || index.built >= index.wanted) return
    await makeGeneration(context, place, { index, lease, isFromNothing: false }).catch(
      async (error: unknown) => {
        if (error instanceof Failure || index.built === 0) throw error
        // A file of the previous generation can be lost. The rows contain all data, so the index is
        // built from them alone.
        await makeGeneration(context, place, { index, lease, isFromNothing: true })
      },
    )
  } finally {
    clearInterval(renewing)
    await returnIndexLease(db, lease)
  }
}

interface Build {
  readonly index: PackageIndex
  readonly lease: Lease
  /** True if no pieces of the previous generation are reused. */
  readonly isFromNothing: boolean
}

async function makeGeneration(
  context: BuildContext,
  place: IndexSource,
  { lease, ...build }: Build,
): Promise<void> {
  const { validMs } = place
  const { wanted: generation } = build.index
  await withIndexFiles(context, place, build, (written) =>
    publishWritten(context, { lease, generation, validMs, written }),
  )
}

/**
 * Writes the files of an index into the folder for incoming files and calls `use` with them. Then
 * removes those that were not moved.
 */
export async function withIndexFiles<T>(
  context: FileContext,
  place: IndexSource,
  { index, isFromNothing }: Omit<Build, 'lease'>,
  use: (written: ReadonlyMap<string, WrittenIndexFile>) => Promise<T>,
): Promise<T> {
  const { maker, subject, validMs, signingKeys } = place
  const { storage, prefixes } = context
  const scratch = await openScratch(storage.incomingFolder)
  const files = openIndexFiles({ storage, scratch, prefixes })
  try {
    const workspace = openWorkspace(context, place, { index, scratch })
    const former = isFromNothing
      ? undefined
      : await findFormer(context, workspace, { index, maker })
    const made = await makeRuns(workspace, former)
    const texts = joinTexts(made)
    if (texts.size > 0) {
      const { changedAtMs } = index
      await maker.build({ subject, changedAtMs, validMs, texts, signingKeys }, files)
      const layout = writeLayout(made, files.places, maker.revision)
      await files.write(LAYOUT_PATH, [Buffer.from(layout)])
    }
    return await use(files.written)
  } finally {
    await files.discard()
    await scratch.close()
  }
}

function openWorkspace(
  { db, compressXz }: FileContext,
  { maker, subject }: IndexSource,
  { index: { id }, scratch }: { readonly index: PackageIndex; readonly scratch: Scratch },
): Workspace {
  return {
    maker,
    subject,
    scratch,
    compressXz,
    parts: () => listParts(db, id),
    entries: (range) => entriesOf(db, id, range),
  }
}

/** Returns the runs of the current generation; undefined if they cannot be reused. */
async function findFormer(
  { db, storage }: FileContext,
  workspace: Workspace,
  { index, maker }: { readonly index: PackageIndex; readonly maker: IndexMaker },
): Promise<PreviousRuns | undefined> {
  const files = await listGenerationFiles(db, index.id, index.built)
  const blobKeys = new Map(files.map(({ path, blobKey }) => [path, blobKey]))
  const layout = files.find(({ path }) => path === LAYOUT_PATH)
  if (layout === undefined) return undefined
  const chunks: Uint8Array[] = []
  for await (const chunk of await storage.open(layout.blobKey, { start: 0, end: layout.bytes })) {
    chunks.push(Buffer.from(chunk))
  }
  const runs: Runs | undefined = readLayout(Buffer.concat(chunks).toString(), {
    revision: maker.revision,
    formsOf: (name) => wantedForms(workspace, name),
    blobKeyOf: (path) => blobKeys.get(path),
  })
  return runs && { ...runs, changedKeys: await listChangedKeys(db, index) }
}

async function* entriesOf(db: Database, indexId: number, range: KeyRange) {
  let after: EntryPosition = { key: range.from, id: 0 }
  for (;;) {
    const page = await listEntries(db, indexId, { after, to: range.to, limit: PAGE_ENTRIES })
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_ENTRIES) return
    after = last
  }
}

interface Writing {
  readonly lease: Lease
  readonly generation: number
  readonly validMs: number | undefined
  readonly written: ReadonlyMap<string, WrittenIndexFile>
}

/** Stores the files as blobs, then makes them the current generation in one transaction. */
async function publishWritten(
  { db, storage, keptMs }: IndexesOptions,
  { lease, generation, validMs, written }: Writing,
): Promise<void> {
  const files = [...written.values()].map(({ path, file, bytes, digests }) => {
    const key = `${digests.sha256}-${randomBytes(8).toString('hex')}`
    return { path, file, blob: { key, bytes, digests } }
  })
  // Concurrently, because one flush of the disk can serve several files.
  const placed = files.map(({ file, blob: { key, bytes } }) =>
    storage.put(key, { path: file, bytes }),
  )
  await Promise.allSettled(placed)
  await Promise.all(placed)
  const keptSinceMs = Date.now() - keptMs()
  const spare = await publishGeneration(db, { lease, generation, validMs, keptSinceMs, files })
  for (const key of spare ?? files.map(({ blob }) => blob.key)) await storage.remove(key)
}
