/** What the supervisor and its workers say to one another. */

export type WorkerMessage =
  | { readonly kind: 'listening' }
  /** The worker cannot start; the sentence is for the person who started it. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'metrics-wanted'; readonly id: number }

export interface SupervisorMessage {
  readonly kind: 'metrics'
  readonly id: number
  readonly text: string
}

/** Whether it is one of ours: libraries talk over the same channel. */
export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return ['listening', 'failed', 'metrics-wanted'].includes(kindOf(message))
}

/** Whether it is one of ours: libraries talk over the same channel. */
export function isSupervisorMessage(message: unknown): message is SupervisorMessage {
  return kindOf(message) === 'metrics'
}

function kindOf(message: unknown): string {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return ''
  return String(message.kind)
}
