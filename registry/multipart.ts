/** Streaming parser of multipart forms (RFC 7578), with backpressure. */

import { Failure } from '../conf/failures.js'
import type { Request } from '../conf/http.js'
import { type PartHeader, parsePartHeader, parseValue } from './form-header.js'

export interface Part extends PartHeader {
  /**
   * Content as sent, whatever transfer encoding the part declares. Can be read once, until the next
   * part is requested; the rest is then skipped. A chunk is valid until the next one is requested.
   */
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Parses the parts in order. Throws `bad_request`, also while a part is read, if the body is not a
 * multipart form, is malformed, ends early or has too many parts.
 */
export async function* readParts(
  request: Pick<Request, 'headers' | 'body'>,
): AsyncGenerator<Part, void, undefined> {
  const delimiter = delimiterOf(request.headers.get('content-type') ?? '')
  const input = new Input(request.body)
  try {
    await passOver(untilDelimiter(input, delimiter), OUTSIDE_BYTES_MAX)
    for (let count = 1; await startsPart(input); count++) {
      if (count > PARTS_MAX) throw refusal(`has more than ${PARTS_MAX} parts`)
      const header = parsePartHeader(await headerLines(input))
      await startContent(input, delimiter)
      const body = untilDelimiter(input, delimiter)
      yield { ...header, body }
      await passOver(body, Number.POSITIVE_INFINITY)
    }
    await passOver(untilEnd(input), OUTSIDE_BYTES_MAX)
  } finally {
    await input.close()
  }
}

/** Maximum number of parts of a form; clients of registries send up to four. */
const PARTS_MAX = 100
/** Maximum size of a part's header. */
const HEADER_BYTES_MAX = 16_384
/** Maximum number of bytes before the first part, and after the last. */
const OUTSIDE_BYTES_MAX = 65_536

function refusal(what: string, cause?: unknown): Failure {
  return new Failure('bad_request', `The form ${what}.`, { cause })
}

/** Returns the delimiter of the parts (RFC 2046 §5.1.1). */
function delimiterOf(contentType: string): Buffer {
  const type = parseValue(contentType)
  if (type?.value !== 'multipart/form-data') {
    throw new Failure('bad_request', 'The body must be sent as multipart/form-data.')
  }
  const boundary = type.parameters.get('boundary') ?? ''
  if (!/^[\x20-\x7e]{1,70}$/.test(boundary)) throw refusal('needs a boundary of 1 to 70 characters')
  return Buffer.from(`\r\n--${boundary}`)
}

/** The body, with a buffer of the bytes that were read and not consumed yet. */
class Input {
  /** Begins with a line end, so that the first boundary is found like the others. */
  bytes: Buffer = Buffer.from('\r\n')
  readonly #body: AsyncIterator<Uint8Array>

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#body = body[Symbol.asyncIterator]()
  }

  take(count: number): Buffer {
    const taken = this.bytes.subarray(0, count)
    this.bytes = this.bytes.subarray(count)
    return taken
  }

  /** Reads another chunk into the buffer. Returns false at the end of the body. */
  async more(): Promise<boolean> {
    // A chunk of the body is no longer valid when the next one is requested.
    const held = Buffer.from(this.bytes)
    const { done, value } = await this.#body.next()
    if (done) return false
    const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    this.bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    return true
  }

  async close(): Promise<void> {
    await this.#body.return?.()
  }
}

/**
 * Returns the bytes up to the next delimiter. It is not a generator, because a generator would end
 * when its reader stops, and the rest must still be skipped.
 */
function untilDelimiter(input: Input, delimiter: Buffer): AsyncIterable<Uint8Array> {
  let ended = false
  async function next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (!ended) {
      const at = input.bytes.indexOf(delimiter)
      // The end of the buffer can be the beginning of a delimiter.
      const chunk = input.take(at < 0 ? Math.max(0, input.bytes.length - delimiter.length + 1) : at)
      if (at >= 0) {
        ended = true
        input.take(delimiter.length)
      }
      if (chunk.length > 0) return { done: false, value: chunk }
      if (!ended) await moreOrThrow(input)
    }
    return { done: true, value: undefined }
  }
  return { [Symbol.asyncIterator]: () => ({ next }) }
}

async function* untilEnd(input: Input): AsyncGenerator<Uint8Array, void, undefined> {
  do yield input.take(input.bytes.length)
  while (await input.more())
}

async function passOver(chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > bytesMax) throw refusal(`has more than ${bytesMax} bytes outside of its parts`)
  }
}

async function moreOrThrow(input: Input): Promise<void> {
  if (!(await input.more())) throw refusal('ends before its last boundary')
}

/** Returns true if a part follows the delimiter, and false if the form ends. */
async function startsPart(input: Input): Promise<boolean> {
  while (input.bytes.length < 2) await moreOrThrow(input)
  if (input.bytes.toString('latin1', 0, 2) !== '--') return true
  input.take(2)
  return false
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

async function headerLines(input: Input): Promise<readonly string[]> {
  for (;;) {
    const at = input.bytes.indexOf('\r\n\r\n')
    if ((at < 0 ? input.bytes.length : at) > HEADER_BYTES_MAX) {
      throw refusal(`has a part whose header is longer than ${HEADER_BYTES_MAX} bytes`)
    }
    if (at < 0) {
      await moreOrThrow(input)
      continue
    }
    const header = input.take(at)
    input.take(2)
    const [padding = '', ...lines] = decode(header).split('\r\n')
    if (padding.trim() !== '') throw refusal('has a boundary that is followed by text')
    return lines
  }
}

/**
 * Consumes the line end of the empty line after a header, unless it is the beginning of the next
 * delimiter, in which case the part is empty.
 */
async function startContent(input: Input, delimiter: Buffer): Promise<void> {
  while (input.bytes.length < delimiter.length) await moreOrThrow(input)
  if (!input.bytes.subarray(0, delimiter.length).equals(delimiter)) input.take(2)
}

function decode(header: Buffer): string {
  try {
    return UTF_8.decode(header)
  } catch (cause) {
    throw refusal('has a part whose header is not valid UTF-8', cause)
  }
}
