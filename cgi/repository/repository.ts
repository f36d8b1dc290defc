/** Creates, removes, measures and initializes bare repositories on disk. */

import { randomBytes } from 'node:crypto'
import { opendirSync, statSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { syncPath, unlessMissing, unlessMissingSync } from '../../conf/lib/disk.js'
import { type Git, runGit } from '../process/git.js'
import { syncRepositoryNames, syncTree } from './durable.js'
import { writeMarker } from './marker.js'
import { walk } from './walk.js'

/** Options of a new repository. */
export interface RepositoryOptions {
  /** A parsed branch name, without `refs/heads/`. */
  readonly defaultBranch: string
  readonly objectFormat: 'sha1' | 'sha256'
  /** Content of its marker; absent for a repository that has no owner and name. */
  readonly marker?: string | undefined
  /** Adds the initial content to the repository at the given path; by default it is empty. */
  readonly fill?: (unfinished: string) => Promise<void>
}

/** Creates a bare repository at `path`. It exists only if it is complete and flushed to disk. */
export async function initRepository(
  git: Git,
  path: string,
  { defaultBranch, objectFormat, marker, fill }: RepositoryOptions,
): Promise<void> {
  const parent = dirname(path)
  const unfinished = `${path}.new-${randomBytes(6).toString('hex')}`
  const firstMade = await mkdir(parent, { recursive: true })
  try {
    await makeEmpty(git, unfinished, { defaultBranch, objectFormat })
    if (marker !== undefined) await writeMarker(unfinished, marker)
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

/** An empty repository: its folders, each before those in it, and its files with their contents. */
interface EmptyRepository {
  readonly folders: readonly string[]
  readonly files: ReadonlyMap<string, Buffer>
}

/** Repositories that git has made, by its version and object format, for any default branch. */
const emptyRepositories = new Map<string, EmptyRepository>()

/** Makes an empty repository: the first one of its kind by git, and the next ones as copies. */
async function makeEmpty(
  git: Git,
  path: string,
  { defaultBranch, objectFormat }: Pick<RepositoryOptions, 'defaultBranch' | 'objectFormat'>,
): Promise<void> {
  const kind = `${git.file} ${git.version.join('.')} ${objectFormat}`
  const known = emptyRepositories.get(kind)
  if (known === undefined) {
    const choices = [`--initial-branch=${defaultBranch}`, `--object-format=${objectFormat}`]
    // An empty template creates no sample hooks and no default description.
    await runGit(git, ['init', '--quiet', '--bare', '--template=', ...choices, path], {
      cwd: dirname(path),
    })
    emptyRepositories.set(kind, await readEmpty(path))
    return
  }
  await mkdir(path)
  for (const folder of known.folders) await mkdir(join(path, folder))
  for (const [name, content] of known.files) await writeFile(join(path, name), content)
  await writeFile(join(path, 'HEAD'), `ref: refs/heads/${defaultBranch}\n`)
}

/** Reads the repository, except for its `HEAD`, which names the default branch. */
async function readEmpty(path: string): Promise<EmptyRepository> {
  const folders: string[] = []
  const files = new Map<string, Buffer>()
  for await (const found of walk(path)) {
    const name = relative(path, found.path)
    if (found.isFolder) folders.push(name)
    else if (name !== 'HEAD') files.set(name, await readFile(found.path))
  }
  return { folders, files }
}

/**
 * Renames a repository, so that it is missing for all readers, and then deletes its files. Does
 * nothing if it is missing already.
 */
export async function removeRepository(path: string): Promise<void> {
  const trash = await trashRepository(path)
  if (trash !== undefined) await rm(trash, { recursive: true, force: true, maxRetries: 3 })
}

/**
 * Renames a repository, so that it is missing for all readers. Returns the new path, which the
 * sweeper removes later; undefined if the repository is missing already.
 */
export async function trashRepository(path: string): Promise<string | undefined> {
  const trash = `${path}.trash-${randomBytes(6).toString('hex')}`
  const renamed = await unlessMissing(rename(path, trash).then(() => true))
  if (renamed === undefined) return undefined
  await syncPath(dirname(path))
  return trash
}

/** Returns true if there is a repository at the path. */
export async function repositoryExists(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path))) !== undefined
}

/** Removes a repository whose creation was interrupted, with its unfinished folders. */
export async function removeUnfinished(path: string): Promise<void> {
  const unfinished = `${basename(path)}.new-`
  for (const name of (await unlessMissing(readdir(dirname(path)))) ?? []) {
    if (!name.startsWith(unfinished)) continue
    await rm(join(dirname(path), name), { recursive: true, force: true, maxRetries: 3 })
  }
  await removeRepository(path)
}

/** Points HEAD at a branch, which need not exist. The name must have been parsed. */
export async function setDefaultBranch(git: Git, path: string, branch: string): Promise<void> {
  await runGit(git, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`], { cwd: path })
  await syncPath(join(path, 'HEAD'))
  await syncPath(path)
}

/** Returns true if the files of a repository contain no ref. Throws if it is missing. */
export async function isEmptyRepository(path: string): Promise<boolean> {
  const packed = await unlessMissing(readFile(join(path, 'packed-refs'), 'utf8'))
  if (packed !== undefined && /^[0-9a-f]/m.test(packed)) return false
  await stat(path)
  for await (const { name, isFolder } of walk(join(path, 'refs'))) {
    if (!isFolder && !name.endsWith('.lock')) return false
  }
  return true
}

/** Number of entries that are read without other work of the event loop in between. */
const ENTRIES_PER_TICK = 100

/**
 * Returns the size of all files of a repository in KiB, rounded up. Reads folders and sizes
 * synchronously, because after each push the promises would cost more than a small repository.
 */
export async function repositorySizeKib(repository: string): Promise<number> {
  let sizeBytes = 0
  let entries = 0
  const folders = [repository]
  for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
    const folder = unlessMissingSync(() => opendirSync(path))
    try {
      for (let entry = folder?.readSync(); entry; entry = folder?.readSync()) {
        const found = join(path, entry.name)
        if (entry.isDirectory()) folders.push(found)
        else sizeBytes += statSync(found, { throwIfNoEntry: false })?.size ?? 0
        entries += 1
        if (entries % ENTRIES_PER_TICK === 0) await setImmediate()
      }
    } finally {
      folder?.closeSync()
    }
  }
  return Math.ceil(sizeBytes / 1_024)
}

/** The first commit of a branch. */
export interface FirstCommit {
  /** A parsed branch name that does not exist yet. */
  readonly branch: string
  readonly files: readonly FirstFile[]
  readonly author: { readonly name: string; readonly email: string }
  readonly message: string
  readonly when: Date
}

export interface FirstFile {
  /** A plain name such as `README.md`, in the top folder. */
  readonly name: string
  readonly content: string
}

/** Creates a branch whose only commit adds files. Throws if the branch exists. */
export async function commitFirstFiles(git: Git, path: string, first: FirstCommit): Promise<void> {
  const startedAtMs = Date.now()
  await runGit(git, ['fast-import', '--quiet', '--date-format=raw', '--done'], {
    cwd: path,
    input: fastImportOf(first),
  })
  await syncRepositoryNames(path, startedAtMs)
}

/** Formats a commit for git-fast-import(1): one command per line, texts with their byte counts. */
function fastImportOf({ branch, files, author, message, when }: FirstCommit): string {
  if (/[\u0000-\u0020]/.test(branch)) throw new Error('the branch name was not parsed')
  const seconds = Math.floor(when.getTime() / 1_000)
  const person = `${identText(author.name)} <${identText(author.email)}> ${seconds} +0000`
  const added = files.flatMap(({ name, content }) => {
    if (!/^[A-Za-z0-9_.-]+$/.test(name)) throw new Error('the file name is not a plain name')
    return [`M 100644 inline ${name}`, counted(content)]
  })
  return [
    `commit refs/heads/${branch}`,
    `author ${person}`,
    `committer ${person}`,
    counted(message),
    ...added,
    'done\n',
  ].join('\n')
}

function counted(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`
}

/** Removes the characters that would end a name or an address, as git does (ident.c). */
function identText(text: string): string {
  return text.replace(/[<>\u0000-\u001f\u007f]/g, '')
}

async function syncFoldersAbove(path: string, top: string): Promise<void> {
  for (let folder = dirname(path); folder.length >= top.length; folder = dirname(folder)) {
    await syncPath(folder)
    if (folder === top) return
  }
}

/** Returns true if the branch exists. The name must have been parsed. */
export async function branchExists(git: Git, path: string, branch: string): Promise<boolean> {
  const name = `refs/heads/${branch}`
  const listed = await runGit(git, ['for-each-ref', '--format=%(refname)', name], { cwd: path })
  return listed.toString().split('\n').includes(name)
}
