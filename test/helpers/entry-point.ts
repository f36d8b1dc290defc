/** Entry point of the command line, run in the test's process. */

import type { Test } from 'tap'
import type { CommandEnd } from './command-line.js'

let calls = 0

/** Runs `gatehouse …`, one call at a time; returns what it prints and its exit status. */
export async function runEntryPoint(t: Test, args: readonly string[]): Promise<CommandEnd> {
  const { argv } = process
  const listeners = process.stdout.listeners('error')
  const [printed, errors] = [t.capture(console, 'log'), t.capture(console, 'error')]
  try {
    process.argv = [...argv.slice(0, 2), ...args]
    calls += 1
    // A module with another query is evaluated again.
    await import(`../../scripts/gatehouse.js?call=${calls}`)
    const textOf = (capture: typeof printed) => capture().map((call) => `${call.args[0]}\n`)
    return {
      exitCode: Number(process.exitCode),
      output: textOf(printed).join(''),
      errorText: textOf(errors).join(''),
    }
  } finally {
    for (const capture of [printed, errors]) capture.restore()
    process.argv = argv
    process.exitCode = undefined
    for (const listener of process.stdout.listeners('error')) {
      if (!listeners.includes(listener)) process.stdout.off('error', listener as () => void)
    }
  }
}
