/** A fingerprint of a bare repository that changes whenever its references or settings do. */

import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { currentTick } from '../../conf/tick.js'

/** What a repository was at one moment. */
export interface RepositoryState {
  /** Equal as long as nothing that git consults for references has changed, whoever changed it. */
  readonly text: string
  /** What its settings say, and which commits end its history. */
  readonly settingsText: string
  /** Whether its last change is past. Where not, another one might leave the text as it is. */
  readonly isSettled: boolean
}

/**
 * How long a change must be past. The kernel stamps files with the time of its last tick (10 ms
 * apart at the most): of two changes within one tick, only one would show.
 */
const SETTLED_MS = 50

/** Tries before a repository that changes all the time is taken for one without a state. */
const TRIES = 4

/** Folders of references whose look-ups would cost more than git itself. */
const FOLDERS_MAX = 500

/** Files of all repositories that are kept open; the least recently used are closed. */
const OPEN_FILES_MAX = 2_000

/**
 * The state of a repository, once its last change is past. Undefined for one that is not there,
 * that changes all the time, or that has too many folders of references.
 */
export async function readSettledState(path: string): Promise<RepositoryState | undefined> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const seen = look(path)
    if (seen === undefined || seen.state.isSettled) return seen?.state
    const ageMs = Date.now() - seen.changedAtMs
    // A clock that was set back: the change seems to be yet to come.
    if (ageMs < -SETTLED_MS) return undefined
    await sleep(Math.max(0, SETTLED_MS - ageMs) + 1)
  }
  return undefined
}

/** The state at this moment, settled or not; undefined where there is none. */
export function readPresentState(path: string): RepositoryState | undefined {
  return look(path)?.state
}

/** The same for a request, as of its turn: see `conf/tick`. */
export function readStateOfTick(path: string): RepositoryState | undefined {
  const turn = currentTick()
  const known = repositories.get(path)
  if (known !== undefined && turn !== undefined && known.lookedIn === turn) return known.state
  const seen = look(path)
  if (seen !== undefined) seen.lookedIn = turn
  return seen?.state
}

/** A repository whose files are open: to look again costs one fstat each, and no walk of a path. */
interface OpenRepository {
  readonly files: readonly number[]
  /** Inode, time of change and size of each file. */
  readonly stamps: readonly number[]
  readonly changedAtMs: number
  readonly state: RepositoryState
  /** The turn that last found it so, in which it counts for all. */
  lookedIn?: number | undefined
}

const STAMP_FIELDS = 3

/** What they say decides, with the objects themselves, what git answers about these. */
const SETTINGS_FILES = ['config', 'config.worktree', 'shallow', 'info/grafts'] as const

/** They change with what comes to stand in them, so they are stamped before it is looked for. */
const FOLDERS = ['.', 'info', 'reftable'] as const

/** By path; the least recently used first. */
const repositories = new Map<string, OpenRepository>()
let openFiles = 0

function look(path: string): OpenRepository | undefined {
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
 * Git renames each new `HEAD`, `packed-refs`, `config` and `shallow` into the repository's folder,
 * and each loose reference into one below `refs` (gitrepository-layout(5)): the folders tell. The
 * files beside them are those that people edit in place. Undefined where not all of it can be seen.
 */
function openRepository(path: string): OpenRepository | undefined {
  const lookedAtMs = Date.now()
  const files: number[] = []
  const stamps: number[] = []
  const add = (name: string): boolean => {
    const file = ifThere(join(path, name), (there) => openSync(there, 'r'))
    if (file === undefined) return false
    files.push(file)
    const { ino, ctimeMs, size } = fstatSync(file)
    stamps.push(ino, ctimeMs, size)
    return true
  }
  try {
    for (const name of [...FOLDERS, ...SETTINGS_FILES]) add(name)
    if (!addFolders(path, add)) throw new HiddenRepository()
    const settingsText = readSettings(path)
    if (/\[\s*include/i.test(settingsText)) throw new HiddenRepository()
    const changedAtMs = Math.max(...stamps.filter((_, at) => at % STAMP_FIELDS === 1))
    const isSettled = changedAtMs <= lookedAtMs - SETTLED_MS
    return { files, stamps, changedAtMs, state: { text: stamps.join(), settingsText, isSettled } }
  } catch {
    closeAll(files)
    return undefined
  }
}

/** Too many folders, or a link or an inclusion of what does not show here when it changes. */
class HiddenRepository extends Error {}

/** All folders below `refs`, each stamped before it is listed: what comes later shows in it. */
function addFolders(path: string, add: (name: string) => boolean): boolean {
  const names = ['refs']
  for (let seen = 0; seen <= FOLDERS_MAX; seen += 1) {
    const name = names.pop()
    if (name === undefined) return true
    // One that goes while we look has changed its parent, and is looked for again.
    if (!add(name)) {
      if (name === 'refs') return false
      continue
    }
    const list = (folder: string) => readdirSync(folder, { withFileTypes: true })
    for (const entry of ifThere(join(path, name), list) ?? []) {
      if (entry.isSymbolicLink()) return false
      if (entry.isDirectory()) names.push(`${name}/${entry.name}`)
    }
  }
  return false
}

function readSettings(path: string): string {
  const read = (file: string) => readFileSync(file, 'utf8')
  return SETTINGS_FILES.map((name) => ifThere(join(path, name), read) ?? '').join('\u0000')
}

/** Most files looked for are not there: an error for each would cost more than the whole look. */
function ifThere<T>(path: string, act: (path: string) => T): T | undefined {
  if (!existsSync(path)) return undefined
  try {
    return act(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
