/** What has come of an import, on the disk until all of it is written down at once. */

import { randomBytes } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { orNoRoom } from '../../registry/received-file.js'
import type { ImportedBatch } from '../../sql/imported-contents.js'

export interface Spool {
  append(batch: ImportedBatch): Promise<void>
  /** All that was appended, in its order; as often as wanted. */
  batches(): AsyncGenerator<ImportedBatch>
  close(): Promise<void>
}

/** Opens one in a folder. Its file has no name there, so that a crash leaves nothing of it. */
export async function openSpool(folder: string): Promise<Spool> {
  const path = join(folder, randomBytes(16).toString('hex'))
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return {
    async append(batch) {
      if (batch.entries.length === 0) return
      const line = JSON.stringify(batch).replace(LINE_ENDS, (end) =>
        end === '\u2028' ? '\\u2028' : '\\u2029',
      )
      await file.appendFile(`${line}\n`).catch((error: unknown) => {
        throw orNoRoom(error)
      })
    },
    async *batches() {
      for await (const line of file.readLines({ start: 0, autoClose: false })) {
        yield JSON.parse(line) as ImportedBatch
      }
    },
    close: () => file.close(),
  }
}

/** JSON leaves these in texts, and whoever reads lines ends one at each of them. */
const LINE_ENDS = /[\u2028\u2029]/g
