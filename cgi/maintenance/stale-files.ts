/** Stale files of interrupted pushes and upkeep: locks, quarantines and partial packs. */

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../conf/lib/disk.js'
import { walk } from '../repository/walk.js'

/** State of a file or folder that may be stale, to be compared with a later state. */
export interface StaleFile {
  /** Changes when the file, or anything in the folder, is changed or replaced. */
  readonly fingerprint: string
  readonly changedAtMs: number
}

/** Lists, by path, the files and folders that exist only while a process writes a repository. */
export async function listStaleFiles(repository: string): Promise<Map<string, StaleFile>> {
  const paths = [
    ...TOP_FILES.map((name) => join(repository, name)),
    ...(await listReferenceLocks(join(repository, 'refs'))),
    ...(await listIn(join(repository, 'objects'), UNFINISHED_OBJECTS)),
    ...(await listIn(join(repository, 'objects', 'pack'), UNFINISHED_PACK)),
    ...(await listLooseParts(join(repository, 'objects'))),
    ...(await listPackKeeps(join(repository, 'objects', 'pack'))),
  ]
  const staleFiles = new Map<string, StaleFile>()
  for (const path of paths) {
    const staleFile = await readStaleFile(path)
    if (staleFile.fingerprint !== '') staleFiles.set(path, staleFile)
  }
  return staleFiles
}

/** Reads the state of a path. The fingerprint is empty if the path does not exist. */
export async function readStaleFile(path: string): Promise<StaleFile> {
  const paths = [path]
  for await (const found of walk(path)) paths.push(found.path)
  const marks: string[] = []
  let changedAtMs = 0
  for (const each of paths) {
    const found = await unlessMissing(stat(each))
    if (found === undefined) continue
    marks.push(`${found.ino} ${found.size} ${found.mtimeMs}`)
    changedAtMs = Math.max(changedAtMs, found.mtimeMs)
  }
  return { fingerprint: marks.join('\n'), changedAtMs }
}

const TOP_FILES = [
  'HEAD.lock',
  'config.lock',
  'packed-refs.lock',
  'packed-refs.new',
  'shallow.lock',
  // Locks of upkeep, also of `git maintenance` run by an administrator.
  'objects/maintenance.lock',
  'objects/info/commit-graph.lock',
  'objects/info/commit-graphs/commit-graph-chain.lock',
  'objects/pack/multi-pack-index.lock',
]

/**
 * Names of quarantines of receive-pack, in present and older versions of git, and of the files in
 * which repack lists the refs that a bitmap covers.
 */
const UNFINISHED_OBJECTS = /^(?:tmp_objdir-)?incoming-|^bitmap-ref-tips_/
const UNFINISHED_PACK = /^\.?tmp[_-]/

/** Lists the temporary files in which git writes loose objects. */
async function listLooseParts(objects: string): Promise<readonly string[]> {
  const folders = await listIn(objects, /^[0-9a-f]{2}$/)
  const parts = await Promise.all(folders.map((folder) => listIn(folder, /^tmp_obj_/)))
  return parts.flat()
}

async function listReferenceLocks(refs: string): Promise<readonly string[]> {
  const locks: string[] = []
  for await (const { path, name, isFolder } of walk(refs)) {
    if (!isFolder && name.endsWith('.lock')) locks.push(path)
  }
  return locks
}

async function listIn(folder: string, pattern: RegExp): Promise<readonly string[]> {
  const names = (await unlessMissing(readdir(folder))) ?? []
  return names.filter((name) => pattern.test(name)).map((name) => join(folder, name))
}

/** Lists the `.keep` files of receive-pack, by their content. An administrator made the others. */
async function listPackKeeps(folder: string): Promise<readonly string[]> {
  const keeps: string[] = []
  for (const path of await listIn(folder, /\.keep$/)) {
    const text = await unlessMissing(readFile(path, 'utf8'))
    if (text?.startsWith('receive-pack ')) keeps.push(path)
  }
  return keeps
}
