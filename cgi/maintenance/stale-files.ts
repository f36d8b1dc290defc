/** What a push or upkeep that was cut off leaves: locks, quarantines, half-written packs. */

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../conf/disk.js'
import { walk } from '../repository/walk.js'

/** The state of something that was left behind, to be compared a moment later. */
export interface StaleFile {
  /** Differs when the file, or anything in the folder, was changed or made anew. */
  readonly fingerprint: string
  readonly changedAtMs: number
}

/** By path, everything that somebody who writes holds while at work, and nobody else has. */
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

/** What stands at a path now; without a fingerprint when it is gone. */
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
  // Of upkeep, be it ours or an administrator's `git maintenance`.
  'objects/maintenance.lock',
  'objects/info/commit-graph.lock',
  'objects/info/commit-graphs/commit-graph-chain.lock',
  'objects/pack/multi-pack-index.lock',
]

/**
 * Where receive-pack puts objects until they are accepted, by its present and its older name; and
 * where repack notes the references that a bitmap is to cover.
 */
const UNFINISHED_OBJECTS = /^(?:tmp_objdir-)?incoming-|^bitmap-ref-tips_/
const UNFINISHED_PACK = /^\.?tmp[_-]/

/** What an object is written into before it has its name. */
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

/** Lists the `.keep` files of receive-pack, which signs them. An administrator made all others. */
async function listPackKeeps(folder: string): Promise<readonly string[]> {
  const keeps: string[] = []
  for (const path of await listIn(folder, /\.keep$/)) {
    const text = await unlessMissing(readFile(path, 'utf8'))
    if (text?.startsWith('receive-pack ')) keeps.push(path)
  }
  return keeps
}
