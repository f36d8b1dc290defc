/** What the supervisor and its workers say to one another. */

import type { FlightNews, FlightReport } from './packs/flight-board.js'

export type WorkerMessage =
  | { readonly kind: 'listening' }
  /** The worker cannot start; the sentence is for the person who started it. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'metrics-wanted'; readonly id: number }
  | { readonly kind: 'flight'; readonly report: FlightReport }

export type SupervisorMessage =
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }
  | { readonly kind: 'flight'; readonly news: FlightNews }

/** Whether it is one of ours: libraries talk over the same channel. */
export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return ['listening', 'failed', 'metrics-wanted', 'flight'].includes(kindOf(message))
}

/** Whether it is one of ours: libraries talk over the same channel. */
export function isSupervisorMessage(message: unknown): message is SupervisorMessage {
  return ['metrics', 'flight'].includes(kindOf(message))
}

function kindOf(message: unknown): string {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return ''
  return String(message.kind)
}
