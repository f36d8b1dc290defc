/** Reads Git objects: one process `git cat-file --batch` serves a whole request. */

import { isReferenceName } from '../../conf/names.js'
import { type Git, gitEnvironment, gitError, startGit } from '../process/git.js'
import { GIT_COMMAND_MS } from '../process/git-limits.js'
import type { RunningProcess } from '../process/run.js'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

/** An object of a repository. */
export interface GitObject {
  readonly id: string
  readonly type: ObjectType
  readonly sizeBytes: number
  /** Undefined if the object is larger than the maximum of the reader. */
  readonly content: Buffer | undefined
}

/** Reader of objects by name, for the duration of one request. */
export interface ObjectReader {
  /**
   * Reads an object by its id (full or an unambiguous prefix) or full ref name, either of which may
   * end with `^{commit}` or `^{tree}`. Returns undefined if there is none. May be called
   * concurrently. Throws an Error for any other name, which is a bug.
   */
  read(name: string, contentBytesMax?: number): Promise<GitObject | undefined>
}

/** Default maximum size of an object that is held in memory. */
const CONTENT_BYTES_MAX = 33_554_432

/** Pattern of an object id or a full ref name. */
const NAME = /^(?:[0-9a-f]{4,64}|HEAD|refs\/(.+))$/

/**
 * Runs `use` with a reader of the repository at `path`, which uses one process. With the variables
 * of a quarantine, the reader also finds the objects of a push that is not accepted yet.
 */
export async function withObjects<T>(
  git: Git,
  path: string,
  use: (objects: ObjectReader) => Promise<T>,
  quarantine: Readonly<Record<string, string>> = {},
): Promise<T> {
  const running = startGit(git, 'read', [git.file, 'cat-file', '--batch'], {
    cwd: path,
    environment: { ...gitEnvironment(git, { config: [] }), ...quarantine },
    timeoutMs: GIT_COMMAND_MS,
  })
  const reader = readerOf(running)
  try {
    return await use(reader)
  } finally {
    // Git exits at the end of its input, unless it is blocked on output that will not be read.
    if (reader.waiting() === 0) running.input.end()
    else running.kill()
    await running.ended
  }
}

/** Creates a reader that counts its unanswered requests. */
function readerOf(running: RunningProcess): ObjectReader & { waiting(): number } {
  const source = createSource(running)
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let names = ''
  // Names requested synchronously go to git in one write: a write costs as much as an answer.
  const request = (name: string) => {
    if (names === '') queueMicrotask(send)
    names += `${name}\n`
  }
  const send = () => {
    void running.input.write(Buffer.from(names))
    names = ''
  }
  return {
    waiting: () => waiting,
    read(name, contentBytesMax = CONTENT_BYTES_MAX) {
      if (!isPlain(name)) {
        return Promise.reject(new Error(`not an object id or a full reference name: ${name}`))
      }
      request(name)
      // Answers come in the order of the requests.
      waiting += 1
      const answer = last.then(() => readAnswer(source, contentBytesMax))
      last = answer.then(
        () => {
          waiting -= 1
        },
        () => {},
      )
      return answer
    },
  }
}

function isPlain(name: string): boolean {
  const match = NAME.exec(name.replace(/\^\{(?:commit|tree)\}$/, ''))
  return match !== null && (match[1] === undefined || isReferenceName(match[1]))
}

/** Reads `<id> <type> <size>`, bytes and a line break, or `<name> missing` (git-cat-file(1)). */
async function readAnswer(source: Source, bytesMax: number): Promise<GitObject | undefined> {
  const line = await source.line()
  const match = /^([0-9a-f]{40,64}) (commit|tree|blob|tag) (\d+)$/.exec(line)
  if (match === null) return undefined
  const [, id = '', type = '', size = ''] = match
  const sizeBytes = Number(size)
  const content = await source.bytes(sizeBytes, sizeBytes <= bytesMax)
  await source.bytes(1, false)
  return { id, type: type as ObjectType, sizeBytes, content }
}

interface Source {
  /** Reads up to the next line break, and returns the text before it. */
  line(): Promise<string>
  /** Reads `count` bytes. Returns them if `isKept`; otherwise drops them and returns undefined. */
  bytes(count: number, isKept: boolean): Promise<Buffer | undefined>
}

function createSource(running: RunningProcess): Source {
  const chunks = running.output[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)

  async function more(): Promise<Buffer> {
    const next = await chunks.next()
    if (!next.done) return Buffer.from(next.value.buffer, next.value.byteOffset, next.value.length)
    throw gitError('cat-file', await running.ended)
  }

  return {
    async line() {
      const parts: Buffer[] = []
      for (;;) {
        const end = rest.indexOf(0x0a)
        if (end >= 0) {
          parts.push(rest.subarray(0, end))
          rest = rest.subarray(end + 1)
          return Buffer.concat(parts).toString()
        }
        parts.push(rest)
        rest = await more()
      }
    },
    async bytes(count, isKept) {
      const parts: Buffer[] = []
      let missing = count
      for (;;) {
        const part = rest.subarray(0, missing)
        rest = rest.subarray(part.length)
        missing -= part.length
        if (isKept) parts.push(part)
        if (missing === 0) return isKept ? Buffer.concat(parts, count) : undefined
        rest = await more()
      }
    },
  }
}
