/** Sends recorded requests again without a git client, by count: no answer is cut off. */

import { performance } from 'node:perf_hooks'
import { runToEnd } from '../../cgi/process/run.js'
import type { RoundResult } from './compare.js'
import { USER_PATH } from './server.js'

const CLIENT_MS = 300_000

/** How long a turn shall last; one that answers slower than that is asked once by each client. */
const SECONDS = 2

/** One request, ready to be sent. */
export interface Replay {
  readonly url: string
  /** As `Name: value`. */
  readonly headers: readonly string[]
  /** Sent as it stands; absent: a GET. */
  readonly bodyFile?: string | undefined
}

/** Keeps the answer in a file and returns its size. Throws when it is none. */
export async function saveAnswer(
  replay: Replay,
  { file, signal }: { readonly file: string; readonly signal: AbortSignal },
): Promise<number> {
  const [sizeBytes] = await runCurl(replay, { words: ['--output', file], count: 1, signal })
  if (sizeBytes === undefined) throw new Error(`${replay.url} did not answer`)
  return sizeBytes
}

export interface ReplayOptions {
  /** Connections, each of which asks again when it has its answer. */
  readonly clients: number
  /** What an answer has to come near to: two runs of git may choose other deltas. */
  readonly answerBytes: number
  readonly signal: AbortSignal
}

/**
 * A function that takes a turn at each call. The first asks once by each client; each later one
 * as often as the one before was answered in the time of a turn.
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
      throw new Error(`${replay.url}: ${odd} bytes, not ${answerBytes}; ${sizes.length} answers`)
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

/** The sizes of all answers. Throws when one is not a success. */
async function runCurl(
  { url, headers, bodyFile }: Replay,
  { words, count, signal }: CurlCall,
): Promise<readonly number[]> {
  const { exitCode, output, errorText } = await runToEnd(
    'curl',
    [
      '--disable',
      '--fail',
      '--no-progress-meter',
      '--parallel',
      ...words,
      '--write-out',
      '%{http_code} %{size_download}\n',
      ...headers.flatMap((header) => ['--header', header]),
      ...(bodyFile === undefined ? [] : ['--data-binary', `@${bodyFile}`]),
      // Curl counts the part that it does not send.
      `${url}#[1-${count}]`,
    ],
    { environment: { PATH: USER_PATH }, signal, timeoutMs: CLIENT_MS, outputBytesMax: 16_777_216 },
  )
  const lines = output.toString().split('\n').slice(0, -1)
  if (exitCode !== 0 || lines.some((line) => !line.startsWith('200 '))) {
    throw new Error(`${url} was not answered well: ${lines.at(-1)} ${errorText}`)
  }
  return lines.map((line) => Number(line.slice('200 '.length)))
}
