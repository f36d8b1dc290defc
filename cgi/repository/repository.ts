/** Bare repositories on the disk: made, removed, measured, given a default branch and a file. */

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { syncPath, unlessMissing } from '../../conf/disk.js'
import { type Git, runGit } from '../process/git.js'
import { syncRepositoryNames, syncTree } from './durable.js'
import { walk } from './walk.js'

/** What is settled when a repository is made. */
export interface RepositoryOptions {
  /** A parsed branch name, without `refs/heads/`. */
  readonly defaultBranch: string
  readonly objectFormat: 'sha1' | 'sha256'
  /** What it holds from the beginning; by default it is empty. */
  readonly fill?: (unfinished: string) => Promise<void>
}

/** Makes a bare repository: there whole and for good when this settles, or not at all. */
export async function initRepository(
  git: Git,
  path: string,
  { defaultBranch, objectFormat, fill }: RepositoryOptions,
): Promise<void> {
  const parent = dirname(path)
  const unfinished = `${path}.new-${randomBytes(6).toString('hex')}`
  const firstMade = await mkdir(parent, { recursive: true })
  try {
    const choices = [`--initial-branch=${defaultBranch}`, `--object-format=${objectFormat}`]
    // An empty template: no sample hooks, no description that pages would have to ignore.
    await runGit(git, ['init', '--quiet', '--bare', '--template=', ...choices, unfinished], {
      cwd: parent,
    })
    await fill?.(unfinished)
    await syncTree(unfinished)
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
  await syncPath(parent)
  if (firstMade !== undefined) await syncFoldersAbove(parent, dirname(firstMade))
}

/** Removes a repository at once for every reader, then its files. It may be gone already. */
export async function removeRepository(path: string): Promise<void> {
  const trash = `${path}.trash-${randomBytes(6).toString('hex')}`
  const renamed = await unlessMissing(rename(path, trash).then(() => true))
  if (renamed === undefined) return
  await syncPath(dirname(path))
  await rm(trash, { recursive: true, force: true, maxRetries: 3 })
}

/** Removes what a repository has become that was never made whole, and nobody knows of yet. */
export async function removeUnfinished(path: string): Promise<void> {
  const unfinished = `${basename(path)}.new-`
  for (const name of (await unlessMissing(readdir(dirname(path)))) ?? []) {
    if (!name.startsWith(unfinished)) continue
    await rm(join(dirname(path), name), { recursive: true, force: true, maxRetries: 3 })
  }
  await removeRepository(path)
}

/** Points HEAD at a branch, which need not exist. The name is a parsed one. */
export async function setDefaultBranch(git: Git, path: string, branch: string): Promise<void> {
  await runGit(git, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`], { cwd: path })
  await syncPath(join(path, 'HEAD'))
  await syncPath(path)
}

/** Whether a repository has no reference yet, from a look at the disk. */
export async function isEmptyRepository(path: string): Promise<boolean> {
  const packed = await unlessMissing(readFile(join(path, 'packed-refs'), 'utf8'))
  if (packed !== undefined && /^[0-9a-f]/m.test(packed)) return false
  await stat(path)
  for await (const { name, isFolder } of walk(join(path, 'refs'))) {
    if (!isFolder && !name.endsWith('.lock')) return false
  }
  return true
}

/** The size of all files of a repository, in KiB, rounded up. */
export async function repositorySizeKib(repository: string): Promise<number> {
  let sizeBytes = 0
  for await (const { path, isFolder } of walk(repository)) {
    if (!isFolder) sizeBytes += (await unlessMissing(stat(path)))?.size ?? 0
  }
  return Math.ceil(sizeBytes / 1_024)
}

/** A file, and the commit that brings it. */
export interface FirstFile {
  /** A parsed branch name that does not exist yet. */
  readonly branch: string
  /** A plain name such as `README.md`, in the top folder. */
  readonly fileName: string
  readonly content: string
  readonly author: { readonly name: string; readonly email: string }
  readonly message: string
  readonly when: Date
}

/** Commits one file as the beginning of a branch. Throws when the branch exists. */
export async function commitFirstFile(git: Git, path: string, first: FirstFile): Promise<void> {
  const startedAtMs = Date.now()
  await runGit(git, ['fast-import', '--quiet', '--date-format=raw', '--done'], {
    cwd: path,
    input: fastImportOf(first),
  })
  await syncRepositoryNames(path, startedAtMs)
}

/** git-fast-import(1): one command a line, texts counted in bytes. */
function fastImportOf({ branch, fileName, content, author, message, when }: FirstFile): string {
  if (!/^[A-Za-z0-9_.-]+$/.test(fileName)) throw new Error('a first file has a plain name')
  if (/[\u0000-\u0020]/.test(branch)) throw new Error('a branch name is parsed before it is used')
  const seconds = Math.floor(when.getTime() / 1_000)
  const person = `${identText(author.name)} <${identText(author.email)}> ${seconds} +0000`
  return [
    `commit refs/heads/${branch}`,
    `author ${person}`,
    `committer ${person}`,
    counted(message),
    `M 100644 inline ${fileName}`,
    counted(content),
    'done\n',
  ].join('\n')
}

function counted(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`
}

/** Git's own rule (ident.c): what would end a name or an address is left out. */
function identText(text: string): string {
  return text.replace(/[<>\u0000-\u001f\u007f]/g, '')
}

async function syncFoldersAbove(path: string, top: string): Promise<void> {
  for (let folder = dirname(path); folder.length >= top.length; folder = dirname(folder)) {
    await syncPath(folder)
    if (folder === top) return
  }
}

/** Whether a branch of that parsed name exists. */
export async function branchExists(git: Git, path: string, branch: string): Promise<boolean> {
  const name = `refs/heads/${branch}`
  const listed = await runGit(git, ['for-each-ref', '--format=%(refname)', name], { cwd: path })
  return listed.toString().split('\n').includes(name)
}
