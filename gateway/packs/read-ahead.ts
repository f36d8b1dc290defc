/** Bodies that are read into memory if they are short, and streamed otherwise. */

import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { IncomingBody } from '../http/incoming-body.js'

/** The beginning of a body, and its rest. */
export interface Beginning {
  readonly beginning: Buffer
  /** Remaining chunks; absent if `beginning` is the whole body. */
  readonly rest: AsyncIterator<Uint8Array> | undefined
}

/** Reads a body to its end, or until more than `bytesMax` bytes are read. */
export function readAhead(body: AsyncIterable<Uint8Array>, bytesMax: number): Awaitable<Beginning> {
  if (!(body instanceof IncomingBody)) return readChunks(body, bytesMax)
  return after(body.whole(bytesMax), (whole) =>
    whole === undefined ? readChunks(body, bytesMax) : { beginning: whole, rest: undefined },
  )
}

async function readChunks(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Beginning> {
  const chunks: Buffer[] = []
  let bytes = 0
  const rest = body[Symbol.asyncIterator]()
  while (bytes <= bytesMax) {
    const { done, value } = await rest.next()
    if (done) return { beginning: Buffer.concat(chunks), rest: undefined }
    chunks.push(Buffer.from(value))
    bytes += value.byteLength
  }
  return { beginning: Buffer.concat(chunks), rest }
}

/** Yields a body again from its beginning on. */
export async function* joined(
  beginning: Uint8Array,
  rest: AsyncIterator<Uint8Array> | undefined,
): AsyncGenerator<Uint8Array> {
  yield beginning
  for (let next = await rest?.next(); next && !next.done; next = await rest?.next()) {
    yield next.value
  }
}
