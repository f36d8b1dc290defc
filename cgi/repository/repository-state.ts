/** Fingerprints of bare repositories, which change whenever refs or settings change. */

import { closeSync, fstatSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { unlessMissingSync } from '../../conf/lib/disk.js'
import { currentTick } from '../../conf/lib/tick.js'
import { cachingMountOf } from './cached-attributes.js'

/** Fingerprint of a repository at one moment. */
export interface RepositoryState {
  /** Inode, change time and size of all files and folders that git reads for refs and settings. */
  readonly text: string
  /** Contents of the configuration, of `shallow` and of `info/grafts`. */
  readonly settingsText: string
  /** True if the last change is `SETTLED_MS` old, so that every later change alters `text`. */
  readonly isSettled: boolean
}

/**
 * Milliseconds after which a change counts as settled. File times have the resolution of a kernel
 * tick (at most 10 ms), so two changes within one tick can have the same time.
 */
const SETTLED_MS = 50

/**
 * Returns true if each change after `readAtMs` alters the time of change of a file that had this
 * one then.
 */
export function isSettledAt(changedAtMs: number, readAtMs: number): boolean {
  return changedAtMs <= readAtMs - SETTLED_MS
}

/** Attempts to read the state of a repository that keeps changing. */
const TRIES = 4

/** Maximum number of folders below `refs`; reading more would be slower than running git. */
const FOLDERS_MAX = 500

/** Maximum number of files kept open for all repositories; the least recently used are closed. */
const OPEN_FILES_MAX = 2_000

/**
 * Waits until the last change of a repository is settled, and returns its state. Returns undefined
 * if the repository is missing, keeps changing, or has too many folders below `refs`.
 */
export async function readSettledState(path: string): Promise<RepositoryState | undefined> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const seen = readRepository(path)
    if (seen === undefined || seen.state.isSettled) return seen?.state
    const ageMs = Date.now() - seen.changedAtMs
    // The clock was set back, so the change appears to be in the future.
    if (ageMs < -SETTLED_MS) return undefined
    await sleep(Math.max(0, SETTLED_MS - ageMs) + 1)
  }
  return undefined
}

/** Returns the current state, settled or not; undefined if the repository has none. */
export function readPresentState(path: string): RepositoryState | undefined {
  return readRepository(path)?.state
}

/** Returns the state, read at most once per tick (`conf/lib/tick.ts`) if it is settled. */
export function readStateOfTick(path: string): RepositoryState | undefined {
  const tick = currentTick()
  const known = repositories.get(path)
  if (known !== undefined && tick !== undefined && known.checkedIn === tick) return known.state
  const seen = readRepository(path)
  if (seen !== undefined) seen.checkedIn = tick
  return seen?.state
}

/**
 * Returns true if git takes commits to have other parents than they name, because of `shallow` or
 * `info/grafts`, or if the repository has no state.
 */
export function hasGrafts(path: string): boolean {
  const [, , ...grafts] = readStateOfTick(path)?.settingsText.split('\u0000') ?? ['', '', 'unknown']
  return !grafts.every(isEmptyText)
}

function isEmptyText(text: string): boolean {
  return text === ''
}

/** A line of a configuration that `git init --bare` writes, on some system (git-config(1)). */
const USUAL_LINE =
  /^(?:\[(?:core|extensions)\]|\t(?:repositoryformatversion = [01]|bare = true|(?:filemode|ignorecase|precomposeunicode|symlinks) = (?:true|false)|objectformat = sha(?:1|256))|)$/

/**
 * Returns true if git behaves in the repository as in a new one: no setting was added, and no
 * commit has other parents than it names.
 */
export function hasUsualSettings({ settingsText }: Pick<RepositoryState, 'settingsText'>): boolean {
  const [config = '', ...others] = settingsText.split('\u0000')
  return config.split('\n').every((line) => USUAL_LINE.test(line)) && others.every(isEmptyText)
}

/** Returns true if git may leave out refs that the files of the repository have. */
export function hidesReferences({ settingsText }: Pick<RepositoryState, 'settingsText'>): boolean {
  return /hiderefs/i.test(settingsText)
}

/** A repository with its files kept open: checking for changes takes one fstat for each file. */
interface OpenRepository {
  readonly files: readonly number[]
  /** Inode, time of change and size of each file. */
  readonly stamps: readonly number[]
  readonly changedAtMs: number
  readonly state: RepositoryState
  /** Event-loop tick of the last check; the state is valid for the rest of that tick. */
  checkedIn?: number | undefined
}

const STAMP_FIELDS = 3

/** Files whose contents affect git's answers about objects. */
const SETTINGS_FILES = ['config', 'config.worktree', 'shallow', 'info/grafts'] as const

/** Folders that change when a file in them is created or replaced. Read before their files. */
const FOLDERS = ['.', 'info', 'reftable'] as const

/** Open repositories by path, least recently used first. */
const repositories = new Map<string, OpenRepository>()
let openFiles = 0

function readRepository(path: string): OpenRepository | undefined {
  const known = repositories.get(path)
  if (known !== undefined) repositories.delete(path)
  if (known !== undefined && known.changedAtMs <= Date.now() && isUnchanged(known)) {
    repositories.set(path, known)
    return known
  }
  if (known !== undefined) forget(known)
  const opened = openRepository(path)
  if (opened === undefined) return undefined
  if (!opened.state.isSettled) {
    closeAll(opened.files)
    return opened
  }
  repositories.set(path, opened)
  openFiles += opened.files.length
  for (const [oldest, repository] of repositories) {
    if (openFiles <= OPEN_FILES_MAX) break
    repositories.delete(oldest)
    forget(repository)
  }
  return opened
}

function forget({ files }: OpenRepository): void {
  openFiles -= files.length
  closeAll(files)
}

function closeAll(files: readonly number[]): void {
  for (const file of files) closeSync(file)
}

function isUnchanged({ files, stamps }: OpenRepository): boolean {
  let at = 0
  for (const file of files) {
    const { ino, ctimeMs, size } = fstatSync(file)
    if (stamps[at] !== ino || stamps[at + 1] !== ctimeMs || stamps[at + 2] !== size) return false
    at += STAMP_FIELDS
  }
  return true
}

/**
 * Reads the state of a repository. The files are kept open only if it is settled: after a recent
 * change each request reads it anew, which costs less without opening them.
 */
function openRepository(path: string): OpenRepository | undefined {
  const seen = readFiles(path, { keepsOpen: false })
  return seen?.state.isSettled === true ? readFiles(path, { keepsOpen: true }) : seen
}

/**
 * Stats the files and folders of a repository. Git renames each new `HEAD`, `packed-refs`, `config`
 * and `shallow` into the repository's folder, and each loose ref into a folder below `refs`
 * (gitrepository-layout(5)), so the folders change with them. The settings files are included
 * because users edit them in place. Returns undefined if some changes could not be seen.
 */
function readFiles(
  path: string,
  { keepsOpen }: { readonly keepsOpen: boolean },
): OpenRepository | undefined {
  const readAtMs = Date.now()
  const files: number[] = []
  const stamps: number[] = []
  const stat = (name: string) => {
    const found = statSync(join(path, name), { throwIfNoEntry: false })
    if (found === undefined || !keepsOpen) return found
    const file = openSync(join(path, name), 'r')
    files.push(file)
    return fstatSync(file)
  }
  const add = (name: string): boolean => {
    const found = unlessMissingSync(() => stat(name))
    if (found === undefined) return false
    if (cachingMountOf(found.dev) !== undefined) throw new HiddenRepository()
    stamps.push(found.ino, found.ctimeMs, found.size)
    return true
  }
  try {
    for (const name of FOLDERS) add(name)
    const settings = SETTINGS_FILES.map((name) => ({ name, isThere: add(name) }))
    if (!addFolders(path, add)) throw new HiddenRepository()
    const settingsText = settings
      .map(({ name, isThere }) => (isThere ? readIfThere(join(path, name)) : ''))
      .join('\u0000')
    if (/\[\s*include/i.test(settingsText)) throw new HiddenRepository()
    const changedAtMs = Math.max(...stamps.filter((_, at) => at % STAMP_FIELDS === 1))
    const isSettled = isSettledAt(changedAtMs, readAtMs)
    return { files, stamps, changedAtMs, state: { text: stamps.join(), settingsText, isSettled } }
  } catch {
    closeAll(files)
    return undefined
  }
}

/**
 * Thrown for too many folders of refs, symbolic links, configurations that include files, and file
 * systems that show changes late.
 */
class HiddenRepository extends Error {}

/** Adds all folders below `refs`, each before it is listed, so that later changes are visible. */
function addFolders(path: string, add: (name: string) => boolean): boolean {
  const names = ['refs']
  for (let seen = 0; seen <= FOLDERS_MAX; seen += 1) {
    const name = names.pop()
    if (name === undefined) return true
    // Removing a folder changes its parent, so the next check sees it.
    if (!add(name)) {
      if (name === 'refs') return false
      continue
    }
    const list = () => readdirSync(join(path, name), { withFileTypes: true })
    for (const entry of unlessMissingSync(list) ?? []) {
      if (entry.isSymbolicLink()) return false
      if (entry.isDirectory()) names.push(`${name}/${entry.name}`)
    }
  }
  return false
}

function readIfThere(path: string): string {
  return unlessMissingSync(() => readFileSync(path, 'utf8')) ?? ''
}
