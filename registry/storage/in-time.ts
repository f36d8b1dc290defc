/** HTTP requests with timeouts for the reply and for each chunk of its body. */

/** Minimum transfer rate on which the timeout of a request with a body is based. */
const SLOWEST_BYTES_PER_MS = 100

type Fetch = typeof globalThis.fetch

/**
 * Returns a response as soon as its headers arrive. Redirects are not followed, because a signature
 * is valid for one host only. The timeout does not cover the body: stream it with `readInTime`;
 * `fetch` itself ends a body without data for five minutes.
 */
export async function fetchWithTimeout(
  input: Parameters<Fetch>[0],
  init: NonNullable<Parameters<Fetch>[1]>,
  patienceMs: number,
): Promise<Response> {
  const sentBytes = init.body instanceof Blob ? init.body.size : 0
  const waiting = new AbortController()
  const giveUp = () => waiting.abort(new Error('timeout while waiting for the response'))
  const timer = setTimeout(giveUp, patienceMs + sentBytes / SLOWEST_BYTES_PER_MS)
  try {
    return await fetch(input, { ...init, redirect: 'manual', signal: waiting.signal })
  } finally {
    clearTimeout(timer)
  }
}

export interface TimedBody {
  /** Returns the next chunk. Rejects after the timeout, or if the connection fails. */
  readonly next: () => Promise<IteratorResult<Uint8Array>>
  /** Closes the connection if the body has not ended. */
  readonly leave: () => Promise<void>
}

/** Reads the body of a response. The timeout applies to waiting for each chunk of the sender. */
export function readWithTimeout({ body }: Response, patienceMs: number): TimedBody {
  if (body === null) throw new Error('the response has no body')
  const reader = body.getReader()
  const leave = () => reader.cancel().catch(() => {})
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      leave()
    }, patienceMs)
    try {
      const { done, value } = await reader.read()
      if (isLate) throw new Error('timeout while reading the response')
      return done ? { done, value: undefined } : { done, value }
    } finally {
      clearTimeout(timer)
    }
  }
  return { next, leave }
}
