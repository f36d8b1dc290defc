/** Requests to a running `git cat-file`, which answers them in their order (git-cat-file(1)). */

import { gitError } from '../process/git.js'
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

/** A request for one object. */
export interface CatFileRequest {
  /** A line of input, without its line break. The caller must have checked it. */
  readonly line: string
  /** False if git answers without the content. */
  readonly hasContent: boolean
  /** Maximum size of a content that is held in memory. */
  readonly contentBytesMax: number
}

/** The requests to one process. */
export interface CatFile {
  /** Returns the number of requests without an answer. */
  waiting(): number
  /** Returns the object; undefined if there is none. Throws if the process ends before it. */
  request(request: CatFileRequest): Promise<GitObject | undefined>
}

export interface CatFileOptions {
  /** Runs after each chunk of output. */
  readonly onProgress?: () => void
  /** True to end the process, instead of reading a content that is larger than the maximum. */
  readonly endsAtLarge?: boolean
}

/** Writes requests to a process and reads its answers. */
export function followCatFile(
  running: RunningProcess,
  { onProgress, endsAtLarge = false }: CatFileOptions = {},
): CatFile {
  const source = createSource(running, onProgress)
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let lines = ''
  const send = () => {
    void running.input.write(Buffer.from(lines))
    lines = ''
  }
  return {
    waiting: () => waiting,
    request(request) {
      // Requests made synchronously go to git in one write: a write costs as much as an answer.
      if (lines === '') queueMicrotask(send)
      lines += `${request.line}\n`
      waiting += 1
      const answer = last.then(() => readAnswer(source, request, endsAtLarge))
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

/** Reads `<id> <type> <size>`, bytes and a line break, or `<name> missing`. */
async function readAnswer(
  source: Source,
  { hasContent, contentBytesMax }: CatFileRequest,
  endsAtLarge: boolean,
): Promise<GitObject | undefined> {
  const line = await source.line()
  const match = /^([0-9a-f]{40,64}) (commit|tree|blob|tag) (\d+)$/.exec(line)
  if (match === null) return undefined
  const [, id = '', type = '', size = ''] = match
  const sizeBytes = Number(size)
  const head = { id, type: type as ObjectType, sizeBytes }
  if (!hasContent) return { ...head, content: undefined }
  if (endsAtLarge && sizeBytes > contentBytesMax) {
    source.end()
    return { ...head, content: undefined }
  }
  const content = await source.bytes(sizeBytes, sizeBytes <= contentBytesMax)
  await source.bytes(1, false)
  return { ...head, content }
}

interface Source {
  /** Reads up to the next line break, and returns the text before it. */
  line(): Promise<string>
  /** Reads `count` bytes. Returns them if `isKept`; otherwise drops them and returns undefined. */
  bytes(count: number, isKept: boolean): Promise<Buffer | undefined>
  /** Ends the process. Later reads of lines throw. */
  end(): void
}

function createSource(running: RunningProcess, onProgress: (() => void) | undefined): Source {
  const chunks = running.output[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  let isEnded = false

  async function more(): Promise<Buffer> {
    const next = await chunks.next()
    onProgress?.()
    if (!next.done) return Buffer.from(next.value.buffer, next.value.byteOffset, next.value.length)
    throw gitError('cat-file', await running.ended)
  }

  return {
    async line() {
      if (isEnded) throw new Error('git cat-file was ended before this answer')
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
    end() {
      isEnded = true
      running.kill()
    },
  }
}
