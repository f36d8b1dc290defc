/** Work that cleans up after itself when a signal ends the process. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Aborts the signal of `work` when the process gets one of the signals of users. If `work` then
 * rejects, the process ends by the same signal, so that shells and cron see the reason.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const aborting = new AbortController()
  let received: NodeJS.Signals | undefined
  const abort = (signal: NodeJS.Signals) => {
    received ??= signal
    aborting.abort(new Error(`${signal} has ended the command`))
  }
  for (const signal of SIGNALS) process.on(signal, abort)
  try {
    return await work(aborting.signal)
  } catch (error) {
    for (const signal of SIGNALS) process.off(signal, abort)
    if (received !== undefined) process.kill(process.pid, received)
    throw error
  } finally {
    for (const signal of SIGNALS) process.off(signal, abort)
  }
}
