/** Requests over HTTP that are given up when nothing comes for too long. */

/** What a line must carry at least while something is sent. */
const SLOWEST_BYTES_PER_MS = 100

type Fetch = typeof globalThis.fetch

/**
 * The head of an answer. A redirect is an answer like any other, since a signature holds for one
 * host. The body may take longer; who streams one reads it by `readInTime`, and `fetch` itself ends
 * any that stands still for five minutes.
 */
export async function fetchWithTimeout(
  input: Parameters<Fetch>[0],
  init: NonNullable<Parameters<Fetch>[1]>,
  patienceMs: number,
): Promise<Response> {
  const sentBytes = init.body instanceof Blob ? init.body.size : 0
  const waiting = new AbortController()
  const giveUp = () => waiting.abort(new Error('there was no answer in time'))
  const timer = setTimeout(giveUp, patienceMs + sentBytes / SLOWEST_BYTES_PER_MS)
  try {
    return await fetch(input, { ...init, redirect: 'manual', signal: waiting.signal })
  } finally {
    clearTimeout(timer)
  }
}

export interface TimedBody {
  /** Rejects when nothing came in time, or the connection broke. */
  readonly next: () => Promise<IteratorResult<Uint8Array>>
  /** Ends the connection where the body has not ended. */
  readonly leave: () => Promise<void>
}

/** The body of an answer: its sender has that long for each chunk, its reader all the time. */
export function readWithTimeout({ body }: Response, patienceMs: number): TimedBody {
  if (body === null) throw new Error('there was an answer without a body')
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
      if (isLate) throw new Error('there were no more bytes in time')
      return done ? { done, value: undefined } : { done, value }
    } finally {
      clearTimeout(timer)
    }
  }
  return { next, leave }
}
