/** Bodies in chunks whose source is closed when the reader stops early. */

/**
 * Returns chunks that can be read once. `leave` runs if the reader stops early, even before the
 * first chunk. A generator that has not started yet would not run its `finally` block.
 */
export function readOnce(
  next: () => Promise<IteratorResult<Uint8Array>>,
  leave: () => unknown,
): AsyncIterable<Uint8Array> {
  const iterator: AsyncIterator<Uint8Array> = {
    next,
    async return() {
      await leave()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

/** Returns a `next` that yields `first`, which was read already, and then what `next` returns. */
export function beginWith(
  first: IteratorResult<Uint8Array>,
  next: () => Promise<IteratorResult<Uint8Array>>,
): () => Promise<IteratorResult<Uint8Array>> {
  let ahead: IteratorResult<Uint8Array> | undefined = first
  return async () => {
    const result = ahead ?? (await next())
    ahead = undefined
    return result
  }
}
