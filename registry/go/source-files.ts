/**
 * Selection of the files of a commit that belong to a module zip, as the go command selects them
 * if it clones the repository itself (golang.org/x/mod/zip, Create).
 */

import { type Failure, notFound } from '../../conf/failures.js'
import { createYielder } from '../archive/yielder.js'
import { quote } from '../archive/zip-paths.js'
import type { SourceFile } from '../source-repository.js'
import { foldCase } from './letter-case.js'
import { filePathError } from './module-path.js'
import { GO_MOD_BYTES_MAX, MODULE_BYTES_MAX } from './module-zip.js'

/** Maximum size of LICENSE (golang.org/x/mod/zip). */
export const LICENSE_BYTES_MAX = 16_777_216

/**
 * Maximum size of one file. The go command allows as much as for the module, but git holds a file
 * of an archive in memory several times.
 */
const FILE_BYTES_MAX = 104_857_600

const BYTES_MAX: Readonly<Record<string, number>> = {
  'go.mod': GO_MOD_BYTES_MAX,
  LICENSE: LICENSE_BYTES_MAX,
}

/** Maximum length of all paths together, and number of the folders in them. */
const CHARACTERS_MAX = 4_194_304
const FOLDERS_MAX = 100_000

/**
 * Returns the paths of the files that belong to a module zip: without symbolic links, vendored
 * packages and nested modules. Throws `not_found` if one of them is not allowed, or if they exceed
 * a limit.
 */
export async function selectFiles(files: readonly SourceFile[]): Promise<ReadonlySet<string>> {
  const yieldIfDue = createYielder()
  const characters = files.reduce((sum, { path }) => sum + path.length, 0)
  if (characters > CHARACTERS_MAX) {
    throw refuse(`their paths together have more than ${CHARACTERS_MAX} characters`)
  }
  const isNested = nestedModules(files)
  const checkCase = createCaseCheck()
  const names = new Set<string>()
  let total = 0
  for (const { path, kind, bytes } of files) {
    await yieldIfDue()
    if (isVendored(path) || isNested(path) || path === '.hg_archival.txt') continue
    checkPath(path)
    checkCase(path)
    if (kind !== 'file') continue
    const bytesMax = BYTES_MAX[path] ?? FILE_BYTES_MAX
    if (bytes > bytesMax) throw refuse(`${quote(path)} has more than ${bytesMax} bytes`)
    total += bytes
    names.add(path)
  }
  if (total > MODULE_BYTES_MAX) throw refuse('its files have more than 500 MiB')
  return names
}

function refuse(fault: string): Failure {
  return notFound(`not found: the files of this version cannot be a module: ${fault}`)
}

/** A folder with the entries in it that matter. */
interface Folder {
  /** Name as it was first found. */
  readonly name: string
  /** Entries that were found so far; a file has none. */
  entries?: Map<string, Folder>
  isModule?: true
}

/** Returns the entry of a folder with that key; adds one with that name if there is none. */
function entryOf(folder: Folder, key: string, name: string): Folder {
  folder.entries ??= new Map()
  const known = folder.entries.get(key)
  if (known !== undefined) return known
  const added: Folder = { name }
  folder.entries.set(key, added)
  return added
}

/** Returns a function that is true for the files of other modules in folders of the module. */
function nestedModules(files: readonly SourceFile[]): (path: string) => boolean {
  const top: Folder = { name: '' }
  for (const { path, kind } of files) {
    if (kind !== 'file' || !/\/go\.mod$/i.test(path)) continue
    let folder = top
    for (const name of path.split('/').slice(0, -1)) {
      folder = entryOf(folder, name, name)
    }
    folder.isModule = true
  }
  return (path) => {
    let folder: Folder | undefined = top
    for (let at = 0, end = path.indexOf('/'); end >= 0; end = path.indexOf('/', at)) {
      folder = folder.entries?.get(path.slice(at, end))
      if (folder === undefined) return false
      if (folder.isModule) return true
      at = end + 1
    }
    return false
  }
}

/**
 * True for files of packages in a folder `vendor`. For one that is not at the top, the go command
 * looks for a further slash from a wrong position, which checksums depend on (golang/go#37397).
 */
function isVendored(path: string): boolean {
  const isAtTop = path.startsWith('vendor/')
  if (!isAtTop && !path.includes('/vendor/')) return false
  return path.includes('/', isAtTop ? 'vendor/'.length : '/vendor/'.length)
}

function checkPath(path: string): void {
  const fault = filePathError(path)
  if (fault !== undefined) throw refuse(`${quote(path)} is not allowed: ${fault}`)
  if (path.toLowerCase() === 'go.mod' && path !== 'go.mod') {
    throw refuse(`${quote(path)} must be named go.mod`)
  }
}

/** Returns a function that throws if a path or a folder of it differs from another only in case. */
function createCaseCheck(): (path: string) => void {
  const top: Folder = { name: '' }
  let folders = 0
  return (path) => {
    let folder = top
    for (const name of path.split('/')) {
      if (folder.entries === undefined) folders += 1
      if (folders > FOLDERS_MAX) throw refuse(`they are in more than ${FOLDERS_MAX} folders`)
      const inner = entryOf(folder, foldCase(name), name)
      if (inner.name !== name) {
        throw refuse(`${quote(inner.name)} and ${quote(path)} have names that differ only in case`)
      }
      folder = inner
    }
  }
}
