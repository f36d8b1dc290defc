/** Parser of CGI responses (RFC 3875 §6): a header block of limited size, then the body. */

import { beginWith, readOnce } from '../../conf/lib/chunks.js'

/** The parsed response of a CGI program. */
export interface CgiResponse {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** Body, which can be read once. Returning early also returns from the program's output. */
  readonly body: AsyncIterable<Uint8Array>
}

const HEADER_BYTES_MAX = 65_536

/**
 * Headers of git-http-backend that are passed on. All others are dropped: the listener frames the
 * message, and git sets no cookies or redirects.
 */
const HEADERS_PASSED: ReadonlySet<string> = new Set([
  'cache-control',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
])

/** Reads the headers of a program's output. Throws an Error if they are missing or malformed. */
export async function readCgiResponse(output: AsyncIterable<Uint8Array>): Promise<CgiResponse> {
  const chunks = output[Symbol.asyncIterator]()
  try {
    const { block, rest } = await readHeaderBlock(chunks)
    return { ...parseHeaderBlock(block), body: prepend(rest, chunks) }
  } catch (error) {
    await chunks.return?.()
    throw error
  }
}

interface Head {
  readonly block: string
  /** Bytes that were read after the block: the beginning of the body. */
  readonly rest: Uint8Array
}

async function readHeaderBlock(chunks: AsyncIterator<Uint8Array>): Promise<Head> {
  let seen: Buffer = Buffer.alloc(0)
  while (seen.length <= HEADER_BYTES_MAX) {
    const next = await chunks.next()
    if (next.done) throw new Error('the CGI answer ends within its headers')
    seen = Buffer.concat([seen, next.value])
    // A blank line ends the block. RFC 3875 permits both LF and CRLF.
    const match = /\r?\n\r?\n/.exec(seen.toString('latin1', 0, HEADER_BYTES_MAX))
    if (match !== null) {
      const bodyStart = match.index + match[0].length
      return { block: seen.toString('latin1', 0, match.index), rest: seen.subarray(bodyStart) }
    }
  }
  throw new Error(`the CGI answer has more than ${HEADER_BYTES_MAX} bytes of headers`)
}

function parseHeaderBlock(block: string): Omit<CgiResponse, 'body'> {
  const fields = block.split(/\r?\n/).map(parseHeader)
  const statuses = fields.filter(([name]) => name === 'status')
  if (statuses.length > 1) throw new Error('the CGI answer has two statuses')
  return {
    status: parseStatus(statuses[0]?.[1] ?? '200'),
    headers: fields.filter(([name]) => HEADERS_PASSED.has(name)),
  }
}

/** Parses a header. Throws for control characters in the value (RFC 9110 §5.5). */
function parseHeader(line: string): readonly [name: string, value: string] {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~\u0080-\u00ff]*)$/.exec(line)
  if (match === null) throw new Error('the CGI answer has a malformed header')
  const [, name = '', value = ''] = match
  return [name.toLowerCase(), value.trimEnd()]
}

function parseStatus(value: string): number {
  const match = /^([2-5]\d\d)(?: .*)?$/.exec(value)
  if (match === null) throw new Error('the CGI answer has a malformed status')
  return Number(match[1])
}

function prepend(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  const next = () => rest.next()
  const leave = () => rest.return?.()
  return readOnce(first.length === 0 ? next : beginWith({ done: false, value: first }, next), leave)
}
