/** Types of requests and replies, which all layers share and which depend on no library. */

import { Failure } from './failures.js'

/** Headers of a request: names in lower case, values of repeated headers joined by `, `. */
export interface RequestHeaders extends Iterable<[name: string, value: string]> {
  get(name: string): string | undefined
  has(name: string): boolean
  values(): Iterable<string>
}

export interface Request {
  /** Unique id, which is in every log line of the request and in `X-Request-Id`. */
  readonly id: string
  /** Method in upper case. */
  readonly method: string
  /** Path as sent, without the query: percent-encoded and not normalized. */
  readonly path: string
  /** Query as sent, without the question mark; may be empty. */
  readonly query: string
  readonly headers: RequestHeaders
  /**
   * Client address, taken from a forwarding header only if a trusted proxy sent it. Empty if it is
   * first read after the client has disconnected.
   */
  readonly address: string
  /** `http` or `https` as the client sees it. */
  readonly scheme: string
  /**
   * Body, which can be read once, with backpressure. Throws `bad_request` if it is cut off. A chunk
   * is valid until the next one is requested; bytes that are kept longer must be copied.
   */
  readonly body: AsyncIterable<Uint8Array>
  /** Aborted if the client disconnects before the reply is complete. */
  readonly signal: AbortSignal
}

export type ReplyBody = string | Uint8Array | AsyncIterable<Uint8Array>

export interface Reply {
  readonly status: number
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
  /** Body, if any. An iterable is streamed with backpressure and closed if the client leaves. */
  readonly body?: ReplyBody
  /** Length of an iterable body, if known; it is sent as `Content-Length`. */
  readonly bodyBytes?: number
  /**
   * Returns the path of a file that has exactly the bytes of the body, if there is one. Who gets a
   * path lets a proxy send the file and does not read the body.
   */
  readonly bodyFile?: (() => string | undefined) | undefined
  /** True for frequent requests of little interest, which are logged only at level debug. */
  readonly isRoutine?: boolean
}

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  205: 'Reset Content',
  206: 'Partial Content',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  422: 'Unprocessable Content',
  423: 'Locked',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  507: 'Insufficient Storage',
}

/** Returns code and reason of a status, such as `200 OK` (RFC 9110 §15). */
export function statusLine(status: number): string {
  return `${status} ${REASONS[status] ?? 'Unknown'}`
}

/** Percent-decodes a path segment or query value. Throws `bad_request` if it is not UTF-8. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new Failure('bad_request', 'The URL contains a malformed percent-encoding.', { cause })
  }
}
