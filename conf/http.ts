/** The plain shapes of a request and a reply, which every floor shares and no library owns. */

import { Failure } from './failures.js'

/** The headers of a request: names in lower case; a repeated one is joined by `, `. */
export interface RequestHeaders extends Iterable<[name: string, value: string]> {
  get(name: string): string | undefined
  has(name: string): boolean
  values(): Iterable<string>
}

export interface Request {
  /** Unique per request; stands in every log line and in `X-Request-Id`. */
  readonly id: string
  /** Upper case. */
  readonly method: string
  /** As sent: still percent-encoded, not normalised, without the query. */
  readonly path: string
  /** As sent, without the question mark; empty when there is none. */
  readonly query: string
  readonly headers: RequestHeaders
  /**
   * The client's address, taken from a forwarding header only when a trusted proxy sent it. Empty
   * when it is first asked for after the client has gone.
   */
  readonly address: string
  /** `http` or `https` as the client sees it. */
  readonly scheme: string
  /**
   * Can be read once; reading slowly slows the sender. Throws `bad_request` when it is cut off. A
   * chunk is the reader's until it asks for the next: what is to be kept longer must be copied.
   */
  readonly body: AsyncIterable<Uint8Array>
  /** Aborted when the client goes away before the reply is complete. */
  readonly signal: AbortSignal
}

export type ReplyBody = string | Uint8Array | AsyncIterable<Uint8Array>

export interface Reply {
  readonly status: number
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
  /** Absent: no body. An iterable is streamed with backpressure, closed when the client leaves. */
  readonly body?: ReplyBody
  /** Bytes of an iterable body, where they are known: the client is told. */
  readonly bodyBytes?: number
  /** Whether it is one of many that say little, so that only who asks for them has them logged. */
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

/** `200 OK` for 200: the status line's code and reason (RFC 9110 §15). */
export function statusLine(status: number): string {
  return `${status} ${REASONS[status] ?? 'Unknown'}`
}

/** Percent-decodes one path segment or query value. Throws `bad_request` when it is not UTF-8. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new Failure('bad_request', 'The address holds a malformed percent-encoding.', { cause })
  }
}
