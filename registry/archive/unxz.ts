/** Decompression of xz files as a stream, with a limit on the output. */

import { ReadableStream } from 'node:stream/web'
import { setImmediate as nextTick } from 'node:timers/promises'
import { Failure } from '../../conf/failures.js'
import { bounded } from './compress.js'

/**
 * Decompresses one or more xz streams. Throws `bad_request` if they are damaged or truncated,
 * contain more than `bytesMax` bytes, or need a dictionary of more than 64 MiB (that of `xz -9`) or
 * a filter for executables (BCJ). Memory is allocated for actual output, not for declared sizes.
 */
export function unxz(
  packed: Uint8Array,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  return bounded(unpack(packed), bytesMax)
}

/** Decompresses with the library, which handles one file at a time: a second one waits here. */
async function* unpack(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  // Loaded on first use, because it takes memory and most processes never need it.
  const { default: xz } = await import('xz-decompress')
  const reader = new xz.XzReadableStream(ReadableStream.from([packed])).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(damaged)
      if (done) return
      yield value
      await nextTick()
    }
  } finally {
    // The library must not be cancelled while it reads ahead.
    await nextTick()
    await reader.cancel().catch(() => {})
  }
}

function damaged(cause: unknown): never {
  const unsupported = 'needs a filter or a dictionary size that is not supported'
  const message = `The xz data is damaged, truncated, or ${unsupported}.`
  throw new Failure('bad_request', message, { cause })
}
