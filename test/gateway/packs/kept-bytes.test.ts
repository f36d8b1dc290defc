/** Bytes of a request are kept in memory or in a file, and read again. */

import t from 'tap'
import { KeptBytes } from '../../../gateway/packs/kept-bytes.js'

const MEMORY_BYTES_MAX = 262_144

async function replayOf(kept: KeptBytes): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of kept.replay()) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

for (const [count, isInMemory] of [
  [0, true],
  [3, true],
  [MEMORY_BYTES_MAX / 1_024, true],
  [MEMORY_BYTES_MAX / 1_024 + 1, false],
  [1_000, false],
] as const) {
  t.test(`${count} KiB are read again from ${isInMemory ? 'memory' : 'a file'}`, async (t) => {
    const kept = new KeptBytes()
    t.teardown(async () => kept.close())
    const chunk = Buffer.alloc(1_024)
    const expected: Buffer[] = []
    for (let number = 0; number < count; number += 1) {
      chunk.fill(number % 256)
      kept.append(chunk)
      expected.push(Buffer.from(chunk))
    }
    const all = Buffer.concat(expected)
    t.equal(kept.inMemory?.equals(all), isInMemory ? true : undefined)
    t.ok((await replayOf(kept)).equals(all))
  })
}

t.test('closing ends a replay', async (t) => {
  const kept = new KeptBytes()
  kept.append(Buffer.alloc(MEMORY_BYTES_MAX))
  kept.append(Buffer.alloc(1_048_576))
  const chunks = kept.replay()
  await chunks.next()
  await chunks.next()
  kept.close()
  t.equal((await chunks.next()).done, true)
})
