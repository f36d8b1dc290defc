/** The module of the thread that computes the digests of uploads. */

import { parentPort } from 'node:worker_threads'
import type { Digests } from '../../conf/package.js'
import { type RunningDigests, startDigests } from '../../registry/digests.js'
import { lowerThreadPriority } from './thread.js'

/** A message to the thread; messages of one upload have the same id. */
export type DigestMessage =
  | { readonly kind: 'update'; readonly id: number; readonly batch: Uint8Array<SharedArrayBuffer> }
  | { readonly kind: 'finish' | 'drop'; readonly id: number }

/** The answer to an update, without digests, or to a finish. */
export interface DigestAnswer {
  readonly id: number
  readonly digests?: Digests
}

const running = new Map<number, RunningDigests>()

function answer(message: DigestMessage): DigestAnswer | undefined {
  const { kind, id } = message
  const digests = running.get(id) ?? startDigests()
  running.set(id, digests)
  if (kind === 'update') {
    digests.update(message.batch)
    return { id }
  }
  running.delete(id)
  return kind === 'finish' ? { id, digests: digests.finish() } : undefined
}

lowerThreadPriority()
parentPort?.on('message', (message: DigestMessage) => {
  const reply = answer(message)
  if (reply !== undefined) parentPort?.postMessage(reply)
})
