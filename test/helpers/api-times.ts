/** Response times of the API, measured in a separate process that does nothing else. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** Request that is sent repeatedly. */
export interface ApiRequest {
  readonly port: number
  /** Path below `/api/v1`. */
  readonly path: string
  readonly token: string
}

export interface ApiTimes {
  readonly requests: number
  /** 99th percentile of the response times. */
  readonly p99Ms: number
}

const THIS_FILE = fileURLToPath(import.meta.url)
const PAUSE_MS = 5

/** Starts the measurement; resolves after the first reply. */
export async function timeApi(request: ApiRequest): Promise<{ end(): Promise<ApiTimes> }> {
  const child = fork(THIS_FILE, [JSON.stringify(request)], { execArgv: [] })
  await once(child, 'message')
  return {
    async end() {
      const answered = once(child, 'message')
      child.send('end')
      const [times] = (await answered) as [ApiTimes]
      return times
    },
  }
}

async function measure(request: ApiRequest): Promise<void> {
  const times: number[] = []
  let isOver = false
  process.once('message', () => {
    isOver = true
  })
  while (!isOver) {
    const startedAtMs = performance.now()
    await sendOnce(request)
    times.push(performance.now() - startedAtMs)
    if (times.length === 1) process.send?.('begun')
    await sleep(PAUSE_MS)
  }
  times.sort((one, other) => one - other)
  const p99Ms = times[Math.floor(times.length * 0.99)] ?? Number.NaN
  process.send?.({ requests: times.length, p99Ms })
  process.disconnect()
}

/** Sends one request on a new connection, so that the requests reach all workers. */
async function sendOnce({ port, path, token }: ApiRequest): Promise<void> {
  const headers = { authorization: `token ${token}` }
  const options = {
    host: '127.0.0.1',
    port,
    path: `/api/v1${path}`,
    headers,
    agent: false as const,
  }
  await new Promise<void>((resolve, reject) => {
    const sent = get(options, (response) => {
      response.resume().on('error', reject).on('end', resolve)
    })
    sent.on('error', reject)
  })
}

const [, file, request] = process.argv
if (file === THIS_FILE && request !== undefined) await measure(JSON.parse(request) as ApiRequest)
