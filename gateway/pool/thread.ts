/** The worker thread of a pool. */

import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { Failure } from '../../conf/failures.js'
import type { TaskMessage, Tasks, ThreadMessage } from './pool.js'
import { ownStatFile } from './thread-clock.js'

/** Nice value of the threads (setpriority(2)), so that requests have priority. */
const NICE = 10

/**
 * Lowers the priority of the calling thread. A thread whose priority is lower keeps it, because a
 * server that was started with a higher nice value may not raise its priority.
 */
export function lowerThreadPriority(): void {
  // On Linux these are the priorities of the calling thread; elsewhere, those of the process.
  if (process.platform === 'linux' && getPriority() < NICE) setPriority(NICE)
}

/** Runs tasks for the pool that started this thread. */
export function serveTasks(tasks: Tasks): void {
  const port = parentPort
  if (port === null) throw new Error('this module runs in a worker thread')
  lowerThreadPriority()
  port.on('message', async (message: TaskMessage) => {
    port.postMessage(await runTask(tasks, message))
  })
  port.postMessage({ isReady: true, statFile: ownStatFile() } satisfies ThreadMessage)
}

async function runTask(tasks: Tasks, { name, input }: TaskMessage): Promise<ThreadMessage> {
  try {
    return { result: await tasks[name]?.(input as never) }
  } catch (error) {
    if (!(error instanceof Failure)) return { error }
    return { failure: error.failure, message: error.message }
  }
}
