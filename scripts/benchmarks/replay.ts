/** Replay of recorded requests with curl, a fixed number of times, so that no response is cut. */

import { performance } from 'node:perf_hooks'
import { runToEnd } from '../../cgi/process/run.js'
import type { RoundResult } from './compare.js'
import { USER_PATH } from './server.js'

const CLIENT_MS = 300_000

/** Target duration of a round; if responses take longer, each client sends one request. */
const SECONDS = 2

/** Request to be replayed. */
export interface Replay {
  readonly url: string
  /** Headers as `Name: value`. */
  readonly headers: readonly string[]
  /** File with the body of a POST; absent for a GET. */
  readonly bodyFile?: string | undefined
}

/** Saves the response in a file and returns its size. Throws if the request fails. */
export async function saveAnswer(
  replay: Replay,
  { file, signal }: { readonly file: string; readonly signal: AbortSignal },
): Promise<number> {
  const [sizeBytes] = await runCurl(replay, { words: ['--output', file], count: 1, signal })
  if (sizeBytes === undefined) throw new Error(`${replay.url} did not respond`)
  return sizeBytes
}

export interface ReplayOptions {
  /** Number of concurrent connections. */
  readonly clients: number
  /** Expected size, within 10 %, because git may choose different deltas in each run. */
  readonly answerBytes: number
  readonly signal: AbortSignal
}

/**
 * Returns a function that runs one round per call. In the first round each client sends one
 * request; later rounds have as many as the previous rate completes in the target duration.
 */
export function createReplay(replay: Replay, options: ReplayOptions): () => Promise<RoundResult> {
  const { clients, answerBytes, signal } = options
  const words = ['--parallel-immediate', '--parallel-max', String(clients), '--output', '/dev/null']
  let count = clients
  return async () => {
    const startedAt = performance.now()
    const sizes = await runCurl(replay, { words, count, signal })
    const seconds = (performance.now() - startedAt) / 1_000
    const odd = sizes.find((size) => Math.abs(size - answerBytes) > answerBytes / 10)
    if (odd !== undefined || sizes.length !== count) {
      throw new Error(`${replay.url}: ${odd} bytes, not ${answerBytes}; ${sizes.length} responses`)
    }
    const turn = { operations: count, seconds }
    count = clients * Math.max(1, Math.round(((count / seconds) * SECONDS) / clients))
    return turn
  }
}

interface CurlCall {
  readonly words: readonly string[]
  readonly count: number
  readonly signal: AbortSignal
}

/** Sends the requests and returns the sizes of the responses. Throws if one is not successful. */
async function runCurl(
  { url, headers, bodyFile }: Replay,
  { words, count, signal }: CurlCall,
): Promise<readonly number[]> {
  const { exitCode, output, errorText } = await runToEnd(
    'curl',
    [
      '--disable',
      '--fail',
      // The certificates of benchmarks sign themselves.
      '--insecure',
      '--no-progress-meter',
      '--parallel',
      ...words,
      '--write-out',
      '%{http_code} %{size_download}\n',
      ...headers.flatMap((header) => ['--header', header]),
      ...(bodyFile === undefined ? [] : ['--data-binary', `@${bodyFile}`]),
      // Curl expands the range in the fragment, which it does not send.
      `${url}#[1-${count}]`,
    ],
    { environment: { PATH: USER_PATH }, signal, timeoutMs: CLIENT_MS, outputBytesMax: 16_777_216 },
  )
  const lines = output.toString().split('\n').slice(0, -1)
  if (exitCode !== 0 || lines.some((line) => !line.startsWith('200 '))) {
    throw new Error(`requests to ${url} failed: ${lines.at(-1)} ${errorText}`)
  }
  return lines.map((line) => Number(line.slice('200 '.length)))
}
