/** The command line on a pseudo-terminal of script(1) from util-linux. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { PLAIN_NODE } from './plain-node.js'
import { until } from './server-processes.js'

const COMMAND_LINE = fileURLToPath(new URL('../../program/gatehouse.js', import.meta.url))

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface Terminal {
  /** Waits until the output matches, and then types. Throws if it does not match in time. */
  type(words: RegExp, keys: string): Promise<void>
  /** Waits for the end of the command; returns the whole output. */
  end(): Promise<string>
}

const SHOWN_WITHIN_MS = 30_000

/**
 * Starts `gatehouse …` on a terminal. After the command, the terminal shows `status=` with its exit
 * status, and the modes of the terminal as stty(1) prints them.
 */
export function startOnTerminal(
  t: Teardown,
  args: readonly string[],
  { dataDir }: { readonly dataDir: string },
): Terminal {
  const words = ['env', ...PLAIN_NODE, COMMAND_LINE, ...args].map((word) => `'${word}'`)
  const line = `${words.join(' ')}; echo "status=$?"; stty -a`
  const child = spawn('script', ['--quiet', '--command', line, '/dev/null'], {
    env: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      SHELL: '/bin/sh',
      GATEHOUSE_DATA_DIR: dataDir,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString()
  })
  const closed = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await closed
  })
  return {
    async type(words, keys) {
      await until(async () => words.test(shown), Boolean, SHOWN_WITHIN_MS)
      if (!words.test(shown)) throw new Error(`the terminal does not show ${words}: ${shown}`)
      child.stdin.write(keys)
    },
    async end() {
      await closed
      return shown
    },
  }
}
