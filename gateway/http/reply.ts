/** Writing of replies: heads, and bodies that are written in one call. */

import type { HttpResponse } from 'uWebSockets.js'
import { type Reply, type Request, statusLine } from '../../conf/http.js'

/** Headers that the library writes itself. */
const OWN_HEADERS = /^(?:content-length|transfer-encoding|connection)$/i
const OWN_HEADER_LENGTHS: ReadonlySet<number> = new Set([14, 17, 10])

/** Characters with which text in a header value could begin another header (RFC 9110 §5.5). */
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/g

/**
 * Maximum size of a body that fits into the cork buffer with the headers. A larger body is offered
 * to the socket, which reports how many bytes it has accepted, so that the rest is not copied.
 */
const LARGE_BYTES = 8_192
function isLarge(body: string | Uint8Array): boolean {
  // A character is at most three bytes, so most texts need not be counted.
  return body.length * 3 > LARGE_BYTES && Buffer.byteLength(body) > LARGE_BYTES
}

/** A reply whose body is a stream. */
export type StreamedReply = Reply & { readonly body: AsyncIterable<Uint8Array> }

export function isStreamed(reply: Reply): reply is StreamedReply {
  const { body } = reply
  return typeof body === 'object' && Symbol.asyncIterator in body
}

/** Returns a body in memory that is too long to be written in one call, or undefined. */
export function longBytesOf({ body }: Reply): Uint8Array | undefined {
  if (typeof body === 'string') return isLarge(body) ? Buffer.from(body) : undefined
  return body instanceof Uint8Array && isLarge(body) ? body : undefined
}

/**
 * The end of a connection after a reply. `close`: the gateway closes it. `linger`: the reply
 * says `Connection: close`, and the client closes it. If the gateway closed it while the client is
 * sending a body, the kernel would reset the connection, and the reply could be lost on its way.
 */
export type ConnectionEnd = 'keep' | 'linger' | 'close'

/** Writes a reply without a long body. Must be called while the socket is corked. */
export function writeReply(
  res: HttpResponse,
  { id, method }: Pick<Request, 'id' | 'method'>,
  reply: Reply,
  end: ConnectionEnd,
): void {
  // The library writes the header itself when it closes the connection.
  writeHead(res, id, reply, end === 'close' ? 'keep' : end)
  const isClosed = end === 'close'
  if (method === 'HEAD') endWithoutBody(res, lengthOf(reply), isClosed)
  else if (reply.body === undefined) endWithoutBody(res, bodilessLength(reply.status), isClosed)
  else res.end(reply.body as string | Uint8Array, isClosed)
}

/** Writes all headers in one call: each call into the library costs as much as a small route. */
export function writeHead(
  res: HttpResponse,
  id: string,
  reply: Reply,
  end: Exclude<ConnectionEnd, 'close'>,
): void {
  // The library writes this status by default.
  if (reply.status !== 200) res.writeStatus(statusLine(reply.status))
  const lines = linesOf(reply.headers)
  res.writeHeader('X-Request-Id', id + lines + (end === 'linger' ? CONNECTION_CLOSE : ''))
}

const CONNECTION_CLOSE = '\r\nConnection: close'

type Headers = NonNullable<Reply['headers']>

/** Lines of frozen header lists, which most small replies share. */
const frozenLines = new WeakMap<Headers, string>()

function linesOf(headers: Headers | undefined): string {
  if (headers === undefined) return ''
  const isFrozen = Object.isFrozen(headers)
  const known = isFrozen ? frozenLines.get(headers) : undefined
  if (known !== undefined) return known
  let lines = ''
  for (const [name, value] of headers) {
    if (OWN_HEADER_LENGTHS.has(name.length) && OWN_HEADERS.test(name)) continue
    lines += `\r\n${name}: ${value.replace(CONTROL_CHARACTERS, ' ')}`
  }
  if (isFrozen) frozenLines.set(headers, lines)
  return lines
}

/**
 * Ends a reply without a body. The library reads an undefined length as 2^63. It treats a reply
 * with a length as unfinished, and would close the connection at the next request. So the length is
 * passed to it only if the connection is closed.
 */
function endWithoutBody(res: HttpResponse, length: number | undefined, close: boolean): void {
  if (close) {
    res.endWithoutBody(length ?? 0, true)
    return
  }
  if (length !== undefined) res.writeHeader('Content-Length', String(length))
  res.endWithoutBody()
}

/** Returns the Content-Length that a GET would have, or undefined. */
function lengthOf(reply: Reply): number | undefined {
  if (typeof reply.body === 'string') return Buffer.byteLength(reply.body)
  if (reply.body instanceof Uint8Array) return reply.body.byteLength
  if (reply.bodyBytes !== undefined) return reply.bodyBytes
  const announced = reply.headers?.find(([name]) => name.toLowerCase() === 'content-length')?.[1]
  return announced === undefined ? undefined : Number(announced)
}

/** Returns 0, or undefined for 204 and 304, which have no Content-Length (RFC 9110 §8.6). */
function bodilessLength(status: number): number | undefined {
  return status === 204 || status === 304 ? undefined : 0
}
