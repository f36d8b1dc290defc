/** Output of git, streamed while it runs; the reader may stop early. */

import { type Git, gitEnvironment, gitError, startGit } from './git.js'
import { GIT_COMMAND_MS } from './git-limits.js'
import { type InputPieces, outputFor } from './run.js'

/** Folder, input and limits of a command whose output is streamed. */
export interface GitOutputOptions {
  readonly cwd: string
  /** Standard input; an error of the pieces ends git. */
  readonly input?: InputPieces | undefined
  /** Variables in addition to those of every git process. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
}

/** Yields git's output in chunks. Throws if git fails. Returning early ends its process group. */
export async function* gitOutput(
  git: Git,
  args: readonly string[],
  { cwd, input = '', environment, signal, timeoutMs = GIT_COMMAND_MS }: GitOutputOptions,
): AsyncGenerator<Uint8Array> {
  const running = await startGit(git, 'read', [git.file, ...args], {
    cwd,
    signal,
    timeoutMs,
    environment: { ...gitEnvironment(git, { config: [] }), ...environment },
  })
  yield* outputFor(running, input)
  const end = await running.ended
  if (end.exitCode !== 0) throw gitError(args[0], end)
}

/** A command whose output is read as records. */
export interface GitRecordsOptions extends GitOutputOptions {
  readonly separator: '\0' | '\n'
}

/** Yields git's output split at a separator. An empty record after the last one is left out. */
export async function* gitRecords(
  git: Git,
  args: readonly string[],
  options: GitRecordsOptions,
): AsyncGenerator<string> {
  for await (const records of gitRecordBatches(git, args, options)) yield* records
}

/** Yields the records in batches, as they arrive: fewer awaits if there are many records. */
export async function* gitRecordBatches(
  git: Git,
  args: readonly string[],
  { separator, ...options }: GitRecordsOptions,
): AsyncGenerator<readonly string[]> {
  let rest: Buffer[] = []
  for await (const chunk of gitOutput(git, args, options)) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    const end = bytes.lastIndexOf(separator)
    if (end >= 0) {
      const whole = bytes.subarray(0, end)
      const text = (rest.length === 0 ? whole : Buffer.concat([...rest, whole])).toString()
      rest = []
      yield text.split(separator)
    }
    // The memory of the chunk may be reused when the next one is requested.
    if (end + 1 < bytes.length) rest.push(Buffer.from(bytes.subarray(end + 1)))
  }
  if (rest.length > 0) yield [Buffer.concat(rest).toString()]
}

/** Returns the text. Throws an Error if it is not a full object id, which is a bug. */
export function fullId(text: string): string {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)) return text
  throw new Error(`not a full id: ${text}`)
}
