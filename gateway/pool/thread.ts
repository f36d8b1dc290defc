/** The worker thread of a pool. */

import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { Failure } from '../../conf/failures.js'
import type { TaskMessage, Tasks, ThreadMessage } from './pool.js'
import { ownStatFile } from './thread-clock.js'

/** Nice value of the threads (setpriority(2)), so that requests have priority. */
export const NICE = 10

/** Runs tasks for the pool that started this thread. */
export function serveTasks(tasks: Tasks): void {
  const port = parentPort
  if (port === null) throw new Error('this module runs in a worker thread')
  // On Linux this sets the priority of the calling thread; elsewhere, that of the process.
  if (process.platform === 'linux') setPriority(NICE)
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
