/** What xz packed, as it was: piece by piece, and never more of it than the reader allows. */

import { ReadableStream } from 'node:stream/web'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Failure } from '../../conf/failures.js'
import { bounded } from './compress.js'

/**
 * What one or more xz streams hold. Throws `bad_request` when they are damaged or cut off, hold
 * more than `bytesMax`, need a dictionary of more than 64 MiB (the largest of `xz -9`), or filters
 * that are for programs alone. Memory is taken for what comes out, not for what is announced.
 */
export function unxz(
  packed: Uint8Array,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  return bounded(unpack(packed), bytesMax)
}

/** The library unpacks one after the other: a second one waits here until the first has ended. */
async function* unpack(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  // Loaded when it is needed: most processes never do, and it takes memory.
  const { default: xz } = await import('xz-decompress')
  const reader = new xz.XzReadableStream(ReadableStream.from([packed])).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(damaged)
      if (done) return
      yield value
      await nextTurn()
    }
  } finally {
    // It reads ahead, and must not be told to end in the middle of that.
    await nextTurn()
    await reader.cancel().catch(() => {})
  }
}

function damaged(cause: unknown): never {
  const what = 'The xz data is damaged, cut off, or packed in a way that is not read here.'
  throw new Failure('bad_request', what, { cause })
}
