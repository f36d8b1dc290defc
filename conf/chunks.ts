/** Bodies in chunks, whose reader may leave early and whose maker must hear of it. */

/**
 * Chunks that can be read once. `leave` runs when the reader returns early, also before it asked
 * for the first chunk, where a generator would not run its own end.
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

/** What reads on after a chunk, or the end, that has been read already. */
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
