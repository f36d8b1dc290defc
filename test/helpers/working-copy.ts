/** Working copies of users, with the real git. */

import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type GitClientOptions, type GitClientResult, git, tryGit } from './git-client.js'
import { temporaryFolder } from './temporary.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

type Extras = Omit<GitClientOptions, 'cwd'>

export interface WorkingCopy {
  readonly path: string
  /** Runs git in the working copy; returns its output. Throws if git fails. */
  git(...args: readonly string[]): Promise<string>
  /** Runs git in the working copy; returns the result, also if git fails. */
  try(args: readonly string[], extras?: Extras): Promise<GitClientResult>
  /** Commits one file, by default with its name as the content; returns the commit. */
  commit(name: string, content?: string | Uint8Array): Promise<string>
}

/** Returns the working copy in an existing folder. */
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
      return await headOf(path)
    },
  }
}

/** Returns the commit of HEAD, whose branch git has just written to a file. */
async function headOf(path: string): Promise<string> {
  const read = async (name: string) => (await readFile(join(path, '.git', name), 'utf8')).trim()
  const head = await read('HEAD')
  return head.startsWith('ref: ') ? await read(head.slice('ref: '.length)) : head
}

/** Creates an empty working copy on the branch main. */
export async function newWorkingCopy(
  t: Teardown,
  objectFormat: 'sha1' | 'sha256' = 'sha1',
): Promise<WorkingCopy> {
  const copy = workingCopyAt(await temporaryFolder(t))
  const choices = ['-b', 'main', `--object-format=${objectFormat}`]
  // Without the sample hooks, which no test uses.
  await copy.git('init', '--quiet', '--template=', ...choices)
  return copy
}

/** Clones to a temporary folder; `options` are options of `git clone`. */
export async function cloneInto(
  t: Teardown,
  address: string,
  options: readonly string[] = [],
): Promise<WorkingCopy> {
  const path = join(await temporaryFolder(t), 'clone')
  await git(['clone', ...options, address, path], { cwd: '/' })
  return workingCopyAt(path)
}

/** Clones to a temporary folder; returns the result, also if the clone fails. */
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

/** Returns the time of the commit with this number, from 1, in seconds. */
export function commitTimeS(number: number): number {
  return FIRST_COMMIT_S + number * COMMIT_EVERY_S
}

/**
 * Writes a history with one `git fast-import`: commits on main, a day apart, each with another
 * small file; and the branches `branch-N` and tags `tag-N`, each with a commit on top of main.
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

/** Returns random bytes, which cannot be compressed. */
export function incompressible(bytes: number): Uint8Array {
  return randomBytes(bytes)
}
