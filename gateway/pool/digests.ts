/** Digests of uploads, computed in a thread while the uploads are received. */

import { Worker } from 'node:worker_threads'
import { Failure } from '../../conf/failures.js'
import type { Digests } from '../../conf/package.js'
import type { RemoteDigests } from '../../registry/digests.js'
import type { DigestAnswer, DigestMessage } from './digest-thread.js'

export interface DigestThread {
  /** Starts the digests of an upload, and the thread if there is none. */
  readonly start: () => RemoteDigests
  /** Ends the thread. Digests that are not finished are refused as `unavailable`. */
  stop(): Promise<void>
}

/** Module of the thread, in the folder of this one, also after bundling. */
const FILE = new URL('./digest-thread.js', import.meta.url)
/** Time without an upload after which the thread ends. */
const IDLE_MS = 30_000

/** Creates the digests of a gateway worker. */
export function createDigestThread(options: { readonly idleMs?: number } = {}): DigestThread {
  const { idleMs = IDLE_MS } = options
  let current: RunningThread | undefined
  let idleTimer: NodeJS.Timeout | undefined
  const end = async () => {
    const ended = current
    current = undefined
    clearTimeout(idleTimer)
    await ended?.end(new Error('the thread was stopped'))
  }
  return {
    start() {
      clearTimeout(idleTimer)
      if (current === undefined || current.hasEnded) current = new RunningThread()
      return current.start(() => {
        clearTimeout(idleTimer)
        idleTimer = setTimeout(() => void end(), idleMs).unref()
      })
    },
    stop: end,
  }
}

interface Waiting {
  readonly resolve: (answer: DigestAnswer) => void
  readonly reject: (error: Error) => void
}

class RunningThread {
  readonly #worker = new Worker(FILE, { env: {}, execArgv: [] })
  readonly #waiting = new Map<number, Waiting>()
  #uploads = 0
  #lastId = 0
  #error: Error | undefined

  constructor() {
    this.#worker.on('message', (answer: DigestAnswer) => {
      this.#waiting.get(answer.id)?.resolve(answer)
      this.#forget(answer.id)
    })
    this.#worker.on('error', (error: Error) => void this.end(error))
    this.#worker.on('exit', () => void this.end(new Error('the thread exited')))
    // The process must be able to exit while no answer is awaited.
    this.#worker.unref()
  }

  get hasEnded(): boolean {
    return this.#error !== undefined
  }

  /** Starts the digests of an upload; calls `whenIdle` if they end as the last ones. */
  start(whenIdle: () => void): RemoteDigests {
    this.#lastId += 1
    const id = this.#lastId
    this.#uploads += 1
    let isOpen = true
    const close = () => {
      isOpen = false
      this.#uploads -= 1
      if (this.#uploads === 0) whenIdle()
    }
    return {
      update: async (batch) => {
        await this.#ask({ kind: 'update', id, batch })
      },
      finish: async () => {
        try {
          return digestsOf(await this.#ask({ kind: 'finish', id }))
        } finally {
          close()
        }
      },
      drop: () => {
        if (!isOpen) return
        if (!this.hasEnded) this.#worker.postMessage({ kind: 'drop', id } satisfies DigestMessage)
        close()
      },
    }
  }

  /** Ends the thread with that error for all uploads. */
  async end(error: Error): Promise<void> {
    if (this.#error !== undefined) return
    this.#error = error
    for (const [id, { reject }] of this.#waiting) {
      reject(unavailable(error))
      this.#forget(id)
    }
    // A process that waits for this must not exit before.
    this.#worker.ref()
    await this.#worker.terminate()
  }

  #ask(message: DigestMessage): Promise<DigestAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#error !== undefined) return reject(unavailable(this.#error))
      this.#waiting.set(message.id, { resolve, reject })
      this.#worker.ref()
      this.#worker.postMessage(message)
    })
  }

  #forget(id: number): void {
    this.#waiting.delete(id)
    // An answer can arrive while the thread ends, which `end` waits for.
    if (this.#waiting.size === 0 && !this.hasEnded) this.#worker.unref()
  }
}

function digestsOf({ digests }: DigestAnswer): Digests {
  if (digests === undefined) throw new Error('the thread answered without digests')
  return digests
}

function unavailable(cause: Error): Failure {
  const message = 'The digests of the upload cannot be computed. Send it again.'
  return new Failure('unavailable', message, { cause, retryAfterSeconds: 1 })
}
