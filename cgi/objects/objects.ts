/** Reading Git's objects: one `git cat-file --batch` answers a whole request. */

import { GIT_COMMAND_MS } from '../../conf/limits.js'
import { isReferenceName } from '../../conf/names.js'
import { type Git, gitEnvironment, gitError, startGit } from '../process/git.js'
import type { RunningProcess } from '../process/run.js'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

/** An object as the repository has it. */
export interface GitObject {
  /** Its full id. */
  readonly id: string
  readonly type: ObjectType
  readonly sizeBytes: number
  /** Absent where it is larger than the reader wanted to hold. */
  readonly content: Buffer | undefined
}

/** Objects by name, in a repository that stays open for the length of one request. */
export interface ObjectReader {
  /**
   * The object of that name: a full or unambiguous id, a full reference name, or one of these with
   * `^{commit}` or `^{tree}` behind it. Undefined where there is none. Many may be asked at once.
   * Throws where the name could be something else to git, which is a bug of the caller's.
   */
  read(name: string, contentBytesMax?: number): Promise<GitObject | undefined>
}

/** What a tree, a commit or a tag may weigh in memory. */
const CONTENT_BYTES_MAX = 33_554_432

/** An id, or a reference by its full name. */
const NAME = /^(?:[0-9a-f]{4,64}|HEAD|refs\/(.+))$/

/**
 * Lets `use` read objects of the repository at `path`, with one process for all of them; with the
 * variables of a quarantine, those of a push that is not taken yet among them.
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
    // It ends by itself in a moment, where it is not still saying what nobody will read.
    if (reader.waiting() === 0) running.input.end()
    else running.kill()
    await running.ended
  }
}

/** A reader that knows how many of its questions have no answer yet. */
function readerOf(running: RunningProcess): ObjectReader & { waiting(): number } {
  const source = createSource(running)
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let asked = ''
  // What is asked at once goes to git at once: each write would cost as much as an answer.
  const ask = (name: string) => {
    if (asked === '') queueMicrotask(send)
    asked += `${name}\n`
  }
  const send = () => {
    void running.input.write(Buffer.from(asked))
    asked = ''
  }
  return {
    waiting: () => waiting,
    read(name, contentBytesMax = CONTENT_BYTES_MAX) {
      if (!isPlain(name)) {
        return Promise.reject(new Error('a name of an object is checked before git sees it'))
      }
      ask(name)
      // Answers come in the order of the questions.
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

/** gitformat of `--batch`: `<id> <type> <size>`, the bytes, a line break; or `<name> missing`. */
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
  /** Up to the next line break, without it. */
  line(): Promise<string>
  /** So many bytes; passed over and undefined where they are not to be kept. */
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
