/** What git says while it runs: streamed to a reader who may stop before its end. */

import { GIT_COMMAND_MS } from '../../conf/limits.js'
import { type Git, gitEnvironment, gitError, startGit } from './git.js'
import type { RunningProcess } from './run.js'

/** Where and with what a command runs whose output is read as it comes. */
export interface GitOutputOptions {
  readonly cwd: string
  /** Text, or pieces of it as they come to be known: their error ends git. */
  readonly input?: string | AsyncIterable<string> | undefined
  /** Variables besides those that every git process gets. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
}

/** Its output in chunks. Throws when git fails; who stops reading ends git's process group. */
export async function* gitOutput(
  git: Git,
  args: readonly string[],
  { cwd, input = '', environment, signal, timeoutMs = GIT_COMMAND_MS }: GitOutputOptions,
): AsyncGenerator<Uint8Array> {
  const running = startGit(git, 'read', [git.file, ...args], {
    cwd,
    signal,
    timeoutMs,
    environment: { ...gitEnvironment(git, { config: [] }), ...environment },
  })
  const fed = feed(running, typeof input === 'string' ? [input] : input)
  let broken: { readonly cause: unknown } | undefined
  fed.catch((cause: unknown) => {
    broken = { cause }
    running.kill()
  })
  try {
    yield* running.output
  } catch (error) {
    throw broken === undefined ? error : broken.cause
  }
  const end = await running.ended
  if (end.exitCode !== 0) throw gitError(args[0], end)
}

async function feed(
  { input }: RunningProcess,
  pieces: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  for await (const piece of pieces) if (!(await input.write(Buffer.from(piece)))) break
  input.end()
}

/** A command whose output is read as records. */
export interface GitRecordsOptions extends GitOutputOptions {
  readonly separator: '\0' | '\n'
}

/** Its output cut at a separator, as with `-z`; without the separators, and no empty last one. */
export async function* gitRecords(
  git: Git,
  args: readonly string[],
  options: GitRecordsOptions,
): AsyncGenerator<string> {
  for await (const records of gitRecordBatches(git, args, options)) yield* records
}

/** The same records, as many at a time as have come: where they are many, each wait counts. */
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
    // The chunk is the process's memory until the next one is asked for.
    if (end + 1 < bytes.length) rest.push(Buffer.from(bytes.subarray(end + 1)))
  }
  if (rest.length > 0) yield [Buffer.concat(rest).toString()]
}

/** Throws where the text is not the full id of an object, which is a bug of the caller's. */
export function fullId(text: string): string {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)) return text
  throw new Error('an object is told to git by its full id')
}
