/** A body with a maximum size. */

import type { Failure } from '../conf/failures.js'

/** Yields the chunks of a body. Throws the error as soon as the body exceeds the size. */
export async function* limitBody(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
  tooLarge: () => Failure,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw tooLarge()
    yield chunk
  }
}
