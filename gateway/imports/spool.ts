/** Temporary file of an import's contents, until they are written to the database together. */

import { randomBytes } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { ImportedBatch } from '../../sql/repositories/imported-contents.js'

export interface Spool {
  append(batch: ImportedBatch): Promise<void>
  /** Yields all batches in the order in which they were appended. May be called repeatedly. */
  batches(): AsyncGenerator<ImportedBatch>
  /** Yields all batches by kind, with issues and releases reversed to begin with the oldest. */
  oldestFirst(): AsyncGenerator<ImportedBatch>
  close(): Promise<void>
}

interface Place {
  readonly kind: ImportedBatch['kind']
  readonly offset: number
  readonly bytes: number
}

/** Creates a spool in a folder. Its file is unlinked, so that a crash leaves no file. */
export async function openSpool(folder: string): Promise<Spool> {
  const path = join(folder, randomBytes(16).toString('hex'))
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  const places: Place[] = []
  let end = 0
  async function* read(order: readonly Place[]): AsyncGenerator<ImportedBatch> {
    for (const { offset, bytes } of order) {
      const buffer = Buffer.alloc(bytes)
      const { bytesRead } = await file.read(buffer, 0, bytes, offset)
      if (bytesRead < bytes) throw new Error('the spool file is shorter than its batches')
      yield JSON.parse(buffer.toString()) as ImportedBatch
    }
  }
  return {
    async append(batch) {
      if (batch.entries.length === 0) return
      const buffer = Buffer.from(JSON.stringify(batch))
      await file.appendFile(buffer)
      places.push({ kind: batch.kind, offset: end, bytes: buffer.length })
      end += buffer.length
    },
    batches: () => read(places),
    async *oldestFirst() {
      for await (const batch of read(reordered(places))) yield reorderedBatch(batch)
    },
    close: () => file.close(),
  }
}

const ORDER = ['labels', 'milestones', 'issues', 'comments', 'releases'] as const
const NEWEST_FIRST: ReadonlySet<string> = new Set(['issues', 'releases'])

function reordered(places: readonly Place[]): readonly Place[] {
  return ORDER.flatMap((kind) => {
    const those = places.filter((place) => place.kind === kind)
    return NEWEST_FIRST.has(kind) ? those.reverse() : those
  })
}

function reorderedBatch(batch: ImportedBatch): ImportedBatch {
  if (!NEWEST_FIRST.has(batch.kind)) return batch
  return { ...batch, entries: [...batch.entries].reverse() } as ImportedBatch
}
