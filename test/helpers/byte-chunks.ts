/** Bytes as they come from elsewhere: in chunks, with a reader who may leave early. */

/** The bytes in chunks of that many. */
export async function* chunksOf(bytes: Uint8Array, chunkBytes = 65_536) {
  for (let at = 0; at < bytes.byteLength; at += chunkBytes) {
    yield bytes.subarray(at, at + chunkBytes)
  }
}

/** All chunks in one. */
export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(Buffer.from(chunk))
  return Buffer.concat(parts)
}
