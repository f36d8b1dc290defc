/** A worker thread for tasks whose cost their input chooses, with limits for each of them. */

import { Worker } from 'node:worker_threads'
import { Failure, type FailureName } from '../../conf/failures.js'
import { TICK_MS, threadCpuMs } from './thread-clock.js'

/** The functions that a thread runs, by name. Inputs and results are copied between threads. */
export type Tasks = Readonly<Record<string, (input: never) => unknown>>

/** A message to the thread. */
export interface TaskMessage {
  readonly name: string
  readonly input: unknown
}

/** A message from the thread. The first one is `ThreadReady`. */
export type ThreadMessage = ThreadReady | TaskAnswer

export interface ThreadReady {
  readonly isReady: true
  /** File with the processor time of the thread; undefined if the system has none. */
  readonly statFile: string | undefined
}

export type TaskAnswer =
  | { readonly result: unknown }
  | { readonly failure: FailureName; readonly message: string }
  | { readonly error: unknown }

/** `deadline`: it ran too long. `memory`: it needed too much. `busy`: it waited too long. */
export type RefusalReason = 'deadline' | 'memory' | 'busy'

/** Thrown by `Pool.run` if a limit of the pool ended a task or kept it from starting. */
export class TaskRefused extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason) {
    super(`a task was refused: ${reason}`)
    this.reason = reason
  }
}

export interface PoolOptions {
  /** The module that the thread runs; it calls `serveTasks`. */
  readonly file: URL
  /** MiB of the thread's JavaScript heap. Buffers are outside of it: tasks bound those. */
  readonly heapMib: number
  /** Maximum number of tasks that wait while one runs. */
  readonly waitingMax: number
  /** Maximum time that a task waits. */
  readonly waitMs: number
  /** Time without a task after which the thread ends. */
  readonly idleMs: number
  /** Called with the outcome of each task. */
  readonly count: (outcome: TaskOutcome) => void
}

/** `failed`: the task itself threw. */
export type TaskOutcome = 'ok' | 'failed' | RefusalReason

export interface TaskLimits {
  /**
   * Maximum processor time of the task, so that it is not refused because the machine is busy. It
   * ends in any case after five times as long by the clock. On systems without the processor time
   * of threads, the limit is by the clock.
   */
  readonly deadlineMs: number
  /** Id of the repository or account of the input; tasks of several owners alternate. */
  readonly ownerId: number
}

export interface Pool<T extends Tasks> {
  /**
   * Runs a task in the thread, which is started if there is none. Throws `TaskRefused` if a limit
   * is exceeded; the thread is then ended in the middle of the task, and the next task gets a new
   * one. Throws what the task throws.
   */
  run<N extends keyof T & string>(
    name: N,
    input: Parameters<T[N]>[0],
    limits: TaskLimits,
  ): Promise<Awaited<ReturnType<T[N]>>>
  /** Ends the thread. Tasks that run or wait are refused as `busy`. */
  stop(): Promise<void>
}

/** Creates a pool of one thread. */
export function createPool<T extends Tasks>(options: PoolOptions): Pool<T> {
  const pool = new SingleThreadPool(options)
  return {
    run: (name, input, limits) =>
      pool.run({ name, input }, limits) as Promise<Awaited<ReturnType<T[typeof name]>>>,
    stop: () => pool.stop(),
  }
}

interface Task {
  readonly message: TaskMessage
  readonly limits: TaskLimits
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
  /** Timer that refuses the task if it waits too long. */
  readonly waitTimer: NodeJS.Timeout
}

/** Maximum time for the start of a thread, on a busy machine. */
const START_MS = 30_000
/** MiB of the young generation, in addition to `heapMib`. */
const YOUNG_MIB = 16
/** Ratio of the limit by the clock to the limit of processor time. */
const CLOCK_PER_CPU = 5

/** A task in the thread. */
interface Running {
  readonly task: Task
  readonly startedMs: number
  /** Processor time of the thread before the task. */
  readonly cpuMs: number
}

class SingleThreadPool {
  readonly #options: PoolOptions
  readonly #waiting: Task[] = []
  #thread: Worker | undefined
  #ready: ThreadReady | undefined
  #running: Running | undefined
  /** Ends the task that runs, or the thread if it is idle. */
  #timer: NodeJS.Timeout | undefined
  #lastOwnerId: number | undefined
  #isStopped = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  run(message: TaskMessage, limits: TaskLimits): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const task: Task = {
        message,
        limits,
        resolve,
        reject,
        waitTimer: setTimeout(() => this.#giveUp(task), this.#options.waitMs),
      }
      if (this.#isStopped || this.#waiting.length >= this.#options.waitingMax) {
        return this.#refuse(task, new TaskRefused('busy'))
      }
      this.#waiting.push(task)
      this.#startNext()
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const task of this.#waiting.splice(0)) this.#refuse(task, new TaskRefused('busy'))
    await this.#endThread(new TaskRefused('busy'))
  }

  #giveUp(task: Task): void {
    this.#waiting.splice(this.#waiting.indexOf(task), 1)
    this.#refuse(task, new TaskRefused('busy'))
  }

  #refuse({ waitTimer, reject }: Task, error: unknown): void {
    clearTimeout(waitTimer)
    this.#options.count(error instanceof TaskRefused ? error.reason : 'failed')
    reject(error)
  }

  #startNext(): void {
    if (this.#running !== undefined) return
    clearTimeout(this.#timer)
    const task = this.#takeNext()
    if (task === undefined) {
      this.#thread?.unref()
      this.#timer = setTimeout(() => void this.#endThread(undefined), this.#options.idleMs).unref()
      return
    }
    clearTimeout(task.waitTimer)
    this.#running = { task, startedMs: performance.now(), cpuMs: 0 }
    this.#thread ??= this.#startThread()
    this.#thread.ref()
    if (this.#ready === undefined) this.#limit(this.#running, START_MS)
    else this.#send(this.#ready, task)
  }

  /** Removes the oldest task of another owner than the last task's, or else the oldest. */
  #takeNext(): Task | undefined {
    const at = this.#waiting.findIndex(({ limits }) => limits.ownerId !== this.#lastOwnerId)
    const [task] = this.#waiting.splice(Math.max(0, at), 1)
    this.#lastOwnerId = task?.limits.ownerId
    return task
  }

  #send({ statFile }: ThreadReady, task: Task): void {
    const cpuMs = statFile === undefined ? 0 : threadCpuMs(statFile)
    this.#running = { task, startedMs: performance.now(), cpuMs }
    this.#limit(this.#running, task.limits.deadlineMs)
    this.#thread?.postMessage(task.message)
  }

  #limit(running: Running, ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      // If this event loop was late, the answer may have arrived: it is read first.
      setImmediate(() => {
        if (this.#running !== running) return
        const leftMs = this.#leftMs(running)
        if (leftMs > 0) this.#limit(running, Math.max(leftMs, TICK_MS))
        // If the thread did not start, that is not caused by the task.
        else void this.#endThread(new TaskRefused(this.#ready ? 'deadline' : 'busy'))
      })
    }, ms)
  }

  /** Returns the time until the limit must be checked again; 0 or less if it is exceeded. */
  #leftMs({ task, startedMs, cpuMs }: Running): number {
    const statFile = this.#ready?.statFile
    if (statFile === undefined) return 0
    const { deadlineMs } = task.limits
    const clockLeftMs = startedMs + CLOCK_PER_CPU * deadlineMs - performance.now()
    return Math.min(deadlineMs - (threadCpuMs(statFile) - cpuMs), clockLeftMs)
  }

  #startThread(): Worker {
    const { file, heapMib } = this.#options
    const thread = new Worker(file, {
      // The thread reads hostile input, so it gets no secrets and no preloaded modules.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMib, maxYoungGenerationSizeMb: YOUNG_MIB },
    })
    const isCurrent = () => thread === this.#thread
    thread.on('message', (message: ThreadMessage) => {
      if (isCurrent()) this.#take(message)
    })
    thread.on('error', (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      if (isCurrent()) void this.#endThread(isMemory ? new TaskRefused('memory') : error)
    })
    thread.on('exit', () => {
      if (isCurrent()) void this.#endThread(new Error('a worker thread exited'))
    })
    return thread
  }

  #take(message: ThreadMessage): void {
    const task = this.#running?.task
    if ('isReady' in message) {
      this.#ready = message
      if (task !== undefined) this.#send(message, task)
      return
    }
    this.#running = undefined
    clearTimeout(this.#timer)
    if (task !== undefined) this.#settle(task, message)
    this.#startNext()
  }

  #settle(task: Task, message: TaskAnswer): void {
    if ('failure' in message) this.#refuse(task, new Failure(message.failure, message.message))
    else if ('error' in message) this.#refuse(task, message.error)
    else {
      this.#options.count('ok')
      task.resolve(message.result)
    }
  }

  /** Ends the thread, and the task that runs in it with that error; resolves when it has ended. */
  #endThread(error: unknown): Promise<unknown> | undefined {
    const [thread, task] = [this.#thread, this.#running?.task]
    this.#thread = undefined
    this.#running = undefined
    this.#ready = undefined
    clearTimeout(this.#timer)
    if (task !== undefined) this.#refuse(task, error)
    if (this.#waiting.length > 0) this.#startNext()
    return thread?.terminate()
  }
}
