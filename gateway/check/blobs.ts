/** Check B1: each blob of the database has its bytes, and all stored bytes belong to a blob. */

import { createHash } from 'node:crypto'
import type { Digests } from '../../conf/package.js'
import type { RowPage } from '../../sql/database/page.js'
import { knownBlobKeys, listBlobs, type StoredBlobRow } from '../../sql/packages/blobs.js'
import { examineRows } from './examine-all.js'
import { type CheckContext, type CheckScope, type CheckStep, UNSWEPT_MS } from './finding.js'

const PAGE = 200

/**
 * Yields stored bytes without a row, and then blobs whose bytes are missing or differ. The list of
 * stored bytes comes first, because it fails if there is no bucket at all.
 */
export async function* checkBlobs(
  context: CheckContext,
  { isDeep, repositories, cursor }: CheckScope,
): AsyncGenerator<CheckStep> {
  if (repositories !== undefined) return
  yield* checkBytesWithoutRow(context)
  const read = (page: RowPage) => listBlobs(context.db, page)
  yield* examineRows(
    { list: 'blobs', read, cursor },
    {
      async examine(blob) {
        const problem = await problemOf(context, blob, isDeep)
        if (problem === undefined) return []
        return [{ code: 'B1', subject: blob.key, problem, remedy: RESTORE_BYTES }]
      },
    },
  )
}

const RESTORE_BYTES =
  'Check that blobs.url names the right storage, and restore the file from a backup otherwise'

async function problemOf(
  { storage }: CheckContext,
  { key, bytes, digests }: StoredBlobRow,
  isDeep: boolean,
): Promise<string | undefined> {
  const stored = await storage.sizeOf(key)
  if (stored === undefined) return 'The bytes of the blob are missing'
  if (stored !== bytes) return `The blob has ${stored} bytes, but the database has ${bytes}`
  if (!isDeep) return undefined
  const chunks = await storage.open(key, { start: 0, end: bytes })
  const wrong = await differingDigest(chunks, digests)
  return wrong && `The ${wrong} digest of the bytes differs from that of the database`
}

/** Returns the name of the first digest that differs from the expected one. */
async function differingDigest(
  chunks: AsyncIterable<Uint8Array>,
  expected: Digests,
): Promise<string | undefined> {
  const names = ['sha256', 'sha512', 'sha1', 'md5'] as const
  const hashes = names.map((name) => createHash(name))
  for await (const chunk of chunks) for (const hash of hashes) hash.update(chunk)
  return names.find((name, at) => hashes[at]?.digest('hex') !== expected[name])
}

async function* checkBytesWithoutRow(context: CheckContext): AsyncGenerator<CheckStep> {
  const { db, storage } = context
  let batch: string[] = []
  for await (const { key, writtenAtMs } of storage.list()) {
    if (writtenAtMs < Date.now() - UNSWEPT_MS) batch.push(key)
    if (batch.length < PAGE) continue
    yield* withoutRow(db, storage, batch)
    batch = []
  }
  yield* withoutRow(db, storage, batch)
}

async function* withoutRow(
  db: CheckContext['db'],
  storage: CheckContext['storage'],
  keys: readonly string[],
): AsyncGenerator<CheckStep> {
  const known = await knownBlobKeys(db, keys)
  for (const key of keys.filter((each) => !known.has(each))) {
    yield {
      finding: { code: 'B1', subject: key, problem: WITHOUT_ROW, remedy: LET_SWEEP },
      persists: async () =>
        !(await knownBlobKeys(db, [key])).has(key) && (await storage.sizeOf(key)) !== undefined,
    }
  }
}

const WITHOUT_ROW = 'No blob of the database has these bytes, which are more than a day old'
const LET_SWEEP = 'See on the page /admin/jobs why the job sweep-packages did not remove them'
