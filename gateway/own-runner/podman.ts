/** Starts podman(1), by which the runner has containers. */

import { runToEnd, type ShortProcessEnd } from '../../cgi/process/run.js'
import { JobFault } from './job-fault.js'
import { findProgram } from './run-program.js'

/** Settings of podman for one runner. */
export interface PodmanInput {
  /** Folders of programs, separated by colons. */
  readonly searchPath: string
  /** The complete environment of podman. No variable of a job is in it. */
  readonly environment: Readonly<Record<string, string>>
  /** Id of the runner, which its containers have as a label. */
  readonly runnerId: string
}

/** Options of a call of podman. */
export interface PodmanOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/** Podman on this machine. */
export interface Podman {
  readonly file: string
  readonly environment: Readonly<Record<string, string>>
  readonly runnerId: string
  /** Runs a command. Throws JobFault if it did not end by itself. */
  call(args: readonly string[], options?: PodmanOptions): Promise<ShortProcessEnd>
  /** Runs a command, and returns its output. Throws JobFault with its message if it has failed. */
  run(args: readonly string[], options?: PodmanOptions): Promise<string>
}

const CALL_WITHIN_MS = 120_000
const OUTPUT_BYTES_MAX = 4_194_304

/** Returns podman; undefined if it is not installed. */
export async function findPodman(input: PodmanInput): Promise<Podman | undefined> {
  const file = await findProgram('podman', input.searchPath)
  if (file === undefined) return undefined
  // The timers of podman for health checks need systemd. The runner itself runs the checks.
  const environment = { ...input.environment, DISABLE_HC_SYSTEMD: 'true' }
  const call: Podman['call'] = async (args, { signal, timeoutMs = CALL_WITHIN_MS } = {}) => {
    const options = { cwd: '/', environment, signal, timeoutMs, outputBytesMax: OUTPUT_BYTES_MAX }
    try {
      return await runToEnd(file, args, options)
    } catch (error) {
      throw new JobFault(`podman ${args[0]}: ${error instanceof Error ? error.message : error}`)
    }
  }
  return {
    file,
    environment,
    runnerId: input.runnerId,
    call,
    async run(args, options) {
      const { exitCode, output, errorText } = await call(args, options)
      if (exitCode !== 0) throw new JobFault(`podman ${args[0]} has failed: ${lastLine(errorText)}`)
      return output.toString()
    },
  }
}

function lastLine(text: string): string {
  const line = text.trimEnd().split('\n').at(-1) ?? ''
  return line.replace(/^Error: /, '') || 'it wrote no message'
}

/** Returns the lines of an output that are not empty. */
export function linesOf(output: string): readonly string[] {
  return output.split('\n').filter((line) => line !== '')
}
