/** Conversion between bytes and streams of chunks. */

/** Yields the bytes in chunks of `chunkBytes`. */
export async function* chunksOf(bytes: Uint8Array, chunkBytes = 65_536) {
  for (let at = 0; at < bytes.byteLength; at += chunkBytes) {
    yield bytes.subarray(at, at + chunkBytes)
  }
}

/** Concatenates all chunks of a stream. */
export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(Buffer.from(chunk))
  return Buffer.concat(parts)
}
