/** A person's working copy: filled, committed to, and taken anywhere with the real git. */

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type GitClientOptions, type GitClientResult, git, tryGit } from './git-client.js'
import { temporaryFolder } from './temporary.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

type Extras = Omit<GitClientOptions, 'cwd'>

export interface WorkingCopy {
  readonly path: string
  /** Runs git here for its output. Throws when it fails. */
  git(...args: readonly string[]): Promise<string>
  /** Runs git here and tells how it ended. */
  try(args: readonly string[], extras?: Extras): Promise<GitClientResult>
  /** Commits one file, with the name as its content where none is given; answers the commit. */
  commit(name: string, content?: string | Uint8Array): Promise<string>
}

/** The working copy in a folder that is one already. */
export function workingCopyAt(path: string): WorkingCopy {
  const run = (...args: readonly string[]) => git(args, { cwd: path })
  return {
    path,
    git: run,
    try: (args, extras = {}) => tryGit(args, { ...extras, cwd: path }),
    async commit(name, content = `${name}\n`) {
      await writeFile(join(path, name), content)
      await run('add', name)
      await run('commit', '--quiet', '-m', `Write ${name}`)
      return run('rev-parse', 'HEAD')
    },
  }
}

/** A new working copy with nothing in it, on the branch main. */
export async function newWorkingCopy(
  t: Teardown,
  objectFormat: 'sha1' | 'sha256' = 'sha1',
): Promise<WorkingCopy> {
  const copy = workingCopyAt(await temporaryFolder(t))
  await copy.git('init', '--quiet', '-b', 'main', `--object-format=${objectFormat}`)
  return copy
}

/** A clone in a folder of its own; `options` are those of `git clone`. */
export async function cloneInto(
  t: Teardown,
  address: string,
  options: readonly string[] = [],
): Promise<WorkingCopy> {
  const path = join(await temporaryFolder(t), 'clone')
  await git(['clone', ...options, address, path], { cwd: '/' })
  return workingCopyAt(path)
}

/** Tries a clone that is to fail, or to say something. */
export async function tryClone(
  t: Teardown,
  address: string,
  options: readonly string[] = [],
): Promise<GitClientResult> {
  return tryGit(['clone', ...options, address, 'clone'], { cwd: await temporaryFolder(t) })
}

export interface History {
  readonly commits: number
  readonly branches?: number
  readonly tags?: number
}

const FIRST_COMMIT_S = 1_700_000_000

/** Seconds between two commits of a written history. */
export const COMMIT_EVERY_S = 86_400

/** When the commit of that number, from 1, was made, in seconds. */
export function commitTimeS(number: number): number {
  return FIRST_COMMIT_S + number * COMMIT_EVERY_S
}

/**
 * Writes a history at once: on main the commits, a day apart, each with a small file of its own;
 * for each `branches` and `tags` a name `branch-N` or `tag-N` with a commit of its own.
 */
export async function writeHistory(copy: WorkingCopy, history: History): Promise<void> {
  const { commits, branches = 0, tags = 0 } = history
  const names = [
    ...Array.from({ length: branches }, (_, at) => `refs/heads/branch-${at + 1}`),
    ...Array.from({ length: tags }, (_, at) => `refs/tags/tag-${at + 1}`),
  ]
  const parts = Array.from({ length: commits }, (_, at) => importOf('refs/heads/main', at + 1))
  for (const name of names) parts.push(`reset ${name}\nfrom refs/heads/main\n\n`, importOf(name, 0))
  parts.push('done\n')
  const input = parts.join('')
  const { exitCode, errorText } = await copy.try(['fast-import', '--quiet', '--done'], { input })
  if (exitCode !== 0) throw new Error(errorText)
  await copy.git('reset', '--quiet', '--hard', 'main')
}

function importOf(ref: string, number: number): string {
  const label = number === 0 ? ref.replaceAll('/', '-') : `file-${number}`
  const person = `Ada <ada@example.com> ${commitTimeS(number)} +0000`
  const message = `Write ${label}`
  const content = `the content of ${label}\n`
  return [
    `commit ${ref}`,
    `committer ${person}`,
    `data ${message.length}\n${message}`,
    `M 100644 inline ${label}`,
    `data ${content.length}\n${content}\n`,
  ].join('\n')
}

/** Bytes that no compression makes smaller. */
export function incompressible(bytes: number): Uint8Array {
  return randomBytes(bytes)
}
