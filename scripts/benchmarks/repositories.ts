/** Repositories to clone: the project's own, and generated ones. */

import { fileURLToPath } from 'node:url'
import { createRandom } from './random.js'
import { feedGitAsUser, runGitAsUser } from './user-git.js'

/** Root of this project's repository. */
export const PROJECT_FOLDER = fileURLToPath(new URL('../../../', import.meta.url))

/** Dimensions of a generated repository. */
export interface Shape {
  readonly files: number
  readonly fileBytes: number
  /** Number of commits after the first one, which adds all files. */
  readonly commits: number
  /** Number of files that each commit changes; it replaces one half of each. */
  readonly filesChanged: number
}

/** Repository like express: small files, long history. 10 MB packed. */
export const SMALL_SHAPE: Shape = { files: 100, fileBytes: 4_000, commits: 3_200, filesChanged: 2 }

/** Repository of 50 MB packed. */
export const MEDIUM_SHAPE: Shape = {
  files: 700,
  fileBytes: 12_000,
  commits: 1_200,
  filesChanged: 10,
}

/** Repository like git: 300 MB packed, 10 MB of which are in a clone of depth 1. */
export const LARGE_SHAPE: Shape = {
  files: 1_500,
  fileBytes: 12_000,
  commits: 8_000,
  filesChanged: 10,
}

/** Writes a generated history into an empty bare repository, as one pack with the branch main. */
export async function fillRepository(
  path: string,
  shape: Shape,
  signal: AbortSignal,
): Promise<void> {
  await feedGitAsUser(['fast-import', '--quiet'], { cwd: path, signal, input: history(shape) })
}

/** Adds a commit with one small file to main, so that cached answers to clones are outdated. */
export async function addCommit(
  path: string,
  signal: AbortSignal,
  { isFirst = false }: { readonly isFirst?: boolean } = {},
): Promise<void> {
  const text = `${process.hrtime.bigint()}\n`
  const input = [
    commitLines(Math.floor(Date.now() / 1_000)),
    isFirst ? '' : 'from refs/heads/main^0\n',
    `M 100644 inline news.txt\ndata ${text.length}\n${text}\n`,
  ]
  await feedGitAsUser(['fast-import', '--quiet'], { cwd: path, signal, input })
}

/** Creates branches `branch-1` and so on at the newest commits of main, in one file of refs. */
export async function addBranches(path: string, count: number, signal: AbortSignal): Promise<void> {
  const options = { cwd: path, signal }
  const listed = await runGitAsUser(['rev-list', `--max-count=${count}`, 'main'], options)
  const tips = listed.trim().split('\n')
  const input = tips.map((tip, index) => `create refs/heads/branch-${index + 1} ${tip}\n`)
  await feedGitAsUser(['update-ref', '--stdin'], { ...options, input })
  await runGitAsUser(['pack-refs', '--all'], options)
}

/** A commit on top of a branch. */
export interface Change {
  readonly branch: string
  /** Time in seconds. */
  readonly when: number
  /** New texts of the changed files. */
  readonly files: ReadonlyArray<{ readonly name: string; readonly text: string }>
}

/** Adds commits to branches that exist. */
export async function addChanges(
  path: string,
  changes: readonly Change[],
  signal: AbortSignal,
): Promise<void> {
  function* lines() {
    for (const { branch, when, files } of changes) {
      yield `${commitLines(when, branch)}from refs/heads/${branch}^0\n`
      for (const { name, text } of files) {
        yield `M 100644 inline ${name}\ndata ${text.length}\n${text}\n`
      }
    }
  }
  // A pack remains, as after a push to Gatehouse.
  const args = ['-c', 'fastimport.unpackLimit=1', 'fast-import', '--quiet']
  await feedGitAsUser(args, { cwd: path, signal, input: lines() })
}

/** Returns the path of a file of a generated repository. */
export function fileName(file: number): string {
  return `folder-${file % 40}/file-${file}.txt`
}

/**
 * Generates the input of git-fast-import(1). It is deterministic, so that results of different days
 * are comparable. All versions of a file are consecutive, because fast-import makes deltas only
 * against the previous blob.
 */
function* history({ files, fileBytes, commits, filesChanged }: Shape): Generator<string> {
  const everyFile = Array.from({ length: files }, (_, file) => file)
  const filesOf = (commit: number) =>
    commit === 0
      ? everyFile
      : Array.from({ length: filesChanged }, (_, index) => (commit * 37 + index) % files)
  const versions = everyFile.map(() => 0)
  for (let commit = 0; commit <= commits; commit += 1) {
    for (const file of filesOf(commit)) versions[file] = (versions[file] ?? 0) + 1
  }
  const write = createWriter(1)
  let mark = 1
  const marks = everyFile.map(() => 0)
  for (const [file, count] of versions.entries()) {
    marks[file] = mark
    let text = write(fileBytes)
    for (let version = 0; version < count; version += 1, mark += 1) {
      if (version > 0) text = halfAnew(text, { isFirst: version % 2 === 0, write })
      yield `blob\nmark :${mark}\ndata ${text.length}\n${text}\n`
    }
  }
  for (let commit = 0; commit <= commits; commit += 1) {
    yield commitLines(1_700_000_000 + commit * 3_600)
    for (const file of filesOf(commit)) {
      const version = marks[file] ?? 0
      yield `M 100644 :${version} ${fileName(file)}\n`
      marks[file] = version + 1
    }
  }
}

function commitLines(when: number, branch = 'main'): string {
  const committer = `Ada <ada@example.com> ${when} +0000`
  return `commit refs/heads/${branch}\ncommitter ${committer}\ndata 6\nchange\n`
}

/** Returns a text of this length. */
type Writer = (length: number) => string

function halfAnew(
  text: string,
  { isFirst, write }: { readonly isFirst: boolean; readonly write: Writer },
): string {
  const half = text.length >> 1
  return isFirst ? write(half) + text.slice(half) : text.slice(0, half) + write(text.length - half)
}

const POOL_WORDS = 2_000_000

/** Creates a generator of words with natural frequencies, so that the pack compresses like text. */
export function createWriter(seed: number): Writer {
  const random = createRandom(seed)
  const vocabulary = Array.from({ length: 4_000 }, () =>
    Math.floor(random() * 36 ** 6)
      .toString(36)
      .slice(0, 3 + Math.floor(random() * 5)),
  )
  const pool = Array.from({ length: POOL_WORDS }, (_, index) => {
    const word = vocabulary[Math.floor(random() ** 2 * vocabulary.length)] ?? ''
    return index % 12 === 11 ? `${word}\n` : `${word} `
  }).join('')
  // The window of zlib, 32 KB, rarely contains the same part of the pool twice.
  return (length) => {
    const start = Math.floor(random() * (pool.length - length))
    return pool.slice(start, start + length)
  }
}
