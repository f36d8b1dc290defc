/** What the supervisor and its workers say to one another. */

import type { DrainTimes } from './http/drain.js'
import type { SingleFlightNotice, SingleFlightReport } from './packs/single-flight-coordinator.js'

/**
 * To be raised when a worker and a supervisor of the release before would not understand each
 * other: a reload after an update starts new workers under the old supervisor.
 */
export const PROTOCOL = 1

export type WorkerMessage =
  | { readonly kind: 'listening'; readonly protocol: number }
  /** The worker cannot start; the sentence is for the person who started it. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'metrics-wanted'; readonly id: number }
  | { readonly kind: 'flight'; readonly report: SingleFlightReport }

export type SupervisorMessage =
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }
  | { readonly kind: 'flight'; readonly notification: SingleFlightNotice }
  /** The worker ends within these times; a later message replaces them. */
  | { readonly kind: 'stop'; readonly times: DrainTimes }

/** Whether it is one of ours: libraries talk over the same channel. */
export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return ['listening', 'failed', 'metrics-wanted', 'flight'].includes(kindOf(message))
}

/** Whether it is one of ours: libraries talk over the same channel. */
export function isSupervisorMessage(message: unknown): message is SupervisorMessage {
  return ['metrics', 'flight', 'stop'].includes(kindOf(message))
}

function kindOf(message: unknown): string {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return ''
  return String(message.kind)
}
