/** Reads Git objects by a process `git cat-file --batch`. */

import { isReferenceName } from '../../conf/names.js'
import { type Git, gitEnvironment, NO_REPLACEMENTS, startGit } from '../process/git.js'
import { GIT_COMMAND_MS } from '../process/git-limits.js'
import { fullId, type GitOutputOptions, gitRecords } from '../process/git-output.js'
import type { RunningProcess } from '../process/run.js'
import { type CatFile, followCatFile, type GitObject } from './cat-file.js'

/** Reader of objects by name, for the duration of one request. */
export interface ObjectReader {
  /**
   * Reads an object by its id (full or an unambiguous prefix) or full ref name, either of which may
   * end with `^{commit}` or `^{tree}`. Returns undefined if there is none. May be called
   * concurrently. Throws an Error for any other name, which is a bug.
   */
  read(name: string, contentBytesMax?: number): Promise<GitObject | undefined>
  /** Reads the sizes of objects without their contents, by full id. Missing ones are left out. */
  readSizes(ids: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, number>>
}

/** Default maximum size of an object that is held in memory. */
export const CONTENT_BYTES_MAX = 33_554_432

/** Pattern of an object id or a full ref name. */
const NAME = /^(?:[0-9a-f]{4,64}|HEAD|refs\/(.+))$/

/** A reader with a process of its own, which must be closed. */
export interface OpenObjects {
  readonly objects: ObjectReader
  close(): Promise<void>
}

/**
 * Opens a reader of the repository at `path`, which uses one process. With the variables of a
 * quarantine, the reader also finds the objects of a push that is not accepted yet.
 */
export async function openObjects(
  git: Git,
  path: string,
  quarantine: Readonly<Record<string, string>> = {},
): Promise<OpenObjects> {
  const running = await startGit(git, 'read', [git.file, 'cat-file', '--batch'], {
    cwd: path,
    environment: { ...gitEnvironment(git, { config: [] }), ...NO_REPLACEMENTS, ...quarantine },
    timeoutMs: GIT_COMMAND_MS,
  })
  const catFile = followCatFile(running)
  const objects: ObjectReader = {
    read: (name, contentBytesMax = CONTENT_BYTES_MAX) => {
      if (!isObjectName(name)) return Promise.reject(notAnObject(name))
      return catFile.request({ line: name, hasContent: true, contentBytesMax })
    },
    readSizes: (ids, signal) => readSizes(git, ids, { cwd: path, environment: quarantine, signal }),
  }
  return { objects, close: () => end(running, catFile) }
}

async function readSizes(
  git: Git,
  ids: readonly string[],
  options: Pick<GitOutputOptions, 'cwd' | 'environment' | 'signal'>,
): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>()
  if (ids.length === 0) return sizes
  const input = ids.map((id) => `${fullId(id)}\n`).join('')
  const args = ['cat-file', '--batch-check=%(objectname) %(objectsize)']
  for await (const line of gitRecords(git, args, { ...options, separator: '\n', input })) {
    const [, id = '', size = ''] = /^([0-9a-f]+) (\d+)$/.exec(line) ?? []
    if (id !== '') sizes.set(id, Number(size))
  }
  return sizes
}

async function end(running: RunningProcess, catFile: CatFile): Promise<void> {
  // Git exits at the end of its input, unless it is blocked on output that will not be read.
  if (catFile.waiting() === 0) running.input.end()
  else running.kill()
  await running.ended
}

/** Returns true for an object id or a full ref name, also with `^{commit}` or `^{tree}`. */
export function isObjectName(name: string): boolean {
  const match = NAME.exec(name.replace(/\^\{(?:commit|tree)\}$/, ''))
  return match !== null && (match[1] === undefined || isReferenceName(match[1]))
}

/** Returns the error for a name that must not be passed to git. */
export function notAnObject(name: string): Error {
  return new Error(`not an object id or a full reference name: ${name}`)
}
