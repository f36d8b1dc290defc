/** Messages between the supervisor and its workers. */

import type { DrainTimes } from './http/drain.js'
import type { PushedRepository } from './packs/single-flight.js'
import type { SingleFlightNotice, SingleFlightReport } from './packs/single-flight-coordinator.js'

/**
 * Version of the messages. It must be raised if a worker and a supervisor of the previous release
 * would not understand each other: a reload after an update starts new workers under the old
 * supervisor.
 */
export const PROTOCOL = 1

export type WorkerMessage =
  | { readonly kind: 'listening'; readonly protocol: number }
  /** The worker cannot start; `reason` is shown to the user who started the server. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'metrics-wanted'; readonly id: number }
  | { readonly kind: 'flight'; readonly report: SingleFlightReport }
  | { readonly kind: 'pushed'; readonly pushed: PushedRepository }

export type SupervisorMessage =
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }
  | { readonly kind: 'flight'; readonly notification: SingleFlightNotice }
  /** Another worker has received a push. */
  | { readonly kind: 'pushed'; readonly pushed: PushedRepository }
  /** The worker ends within these times; a later message replaces them. */
  | { readonly kind: 'stop'; readonly times: DrainTimes }

/** True for a message of this module; libraries use the same channel. */
export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return ['listening', 'failed', 'metrics-wanted', 'flight', 'pushed'].includes(kindOf(message))
}

/** True for a message of this module; libraries use the same channel. */
export function isSupervisorMessage(message: unknown): message is SupervisorMessage {
  return ['metrics', 'flight', 'pushed', 'stop'].includes(kindOf(message))
}

function kindOf(message: unknown): string {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return ''
  return String(message.kind)
}
