/** Files with the objects of a repository, while pushes add some and repacks replace others. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from '../../conf/lib/disk.js'

export interface CapturedObjects {
  /** Names without an extension: `pack-<hex>`. */
  readonly packs: readonly string[]
  /** Names of loose objects: `ab/cdef…`. */
  readonly loose: readonly string[]
}

/**
 * Copies the file `source` as `name`, unless it was copied before. Returns false if the file has
 * vanished.
 */
export type TakeFile = (source: string, name: string) => Promise<boolean>

/**
 * Takes all objects that are reachable at the call: packs, then loose objects, then packs again. A
 * repack writes a new pack before it removes the packs and loose objects that it replaces. So an
 * object is in a pack of the first list, or loose until it is taken, or in a pack of the last list.
 * A running prune has moved some packs to `expired`, from where it may move them back, so those are
 * included.
 *
 * Indexes over several packs, bitmaps and the commit-graph are left out: maintenance writes them.
 */
export async function captureObjects(path: string, take: TakeFile): Promise<CapturedObjects> {
  const packs = new Set<string>()
  const loose = new Set<string>()
  const objects = join(path, 'objects')
  await takePacks(objects, { packs, take })
  await takeLoose(objects, { loose, take })
  await takePacks(objects, { packs, take })
  return { packs: [...packs], loose: [...loose] }
}

/** Repacks of one second each would have to remove a pack before it is taken, for an hour. */
const TRIES_MAX = 3_600

interface TakingPacks {
  readonly packs: Set<string>
  readonly take: TakeFile
}

/** Takes the listed packs, and lists them again if a repack has removed one before it was taken. */
async function takePacks(objects: string, taking: TakingPacks): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    if (await takeListed(await listSettled(objects), taking)) return
  }
  throw new Error(`repacks of ${objects} removed packs faster than they were copied`)
}

/** Lists packs until two lists are equal: one that is read during a repack may lack both packs. */
async function listSettled(objects: string): Promise<readonly string[]> {
  let listed = await listPacks(objects)
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const again = await listPacks(objects)
    if (again.join() === listed.join()) break
    listed = again
  }
  return listed
}

const PACK = /^(pack-[0-9a-f]{40,64})\.idx$/

/** Returns the paths of packs without an extension. Git writes the index of a pack last. */
async function listPacks(objects: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const folder of [join(objects, 'pack'), join(objects, 'expired', 'pack')]) {
    for (const file of (await unlessMissing(readdir(folder))) ?? []) {
      const name = PACK.exec(file)?.[1]
      if (name !== undefined) found.push(join(folder, name))
    }
  }
  return found.sort()
}

/** Returns false if a pack has vanished. */
async function takeListed(
  paths: readonly string[],
  { packs, take }: TakingPacks,
): Promise<boolean> {
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (packs.has(name)) continue
    if (!(await take(`${path}.pack`, `${name}.pack`))) return false
    if (!(await take(`${path}.idx`, `${name}.idx`))) return false
    packs.add(name)
  }
  return true
}

/** Takes the loose objects. One that vanishes is in a pack now. */
async function takeLoose(
  objects: string,
  { loose, take }: { readonly loose: Set<string>; readonly take: TakeFile },
): Promise<void> {
  for (const folder of await readdir(objects)) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue
    for (const file of (await unlessMissing(readdir(join(objects, folder)))) ?? []) {
      const name = `${folder}/${file}`
      if (!/^[0-9a-f]{38,62}$/.test(file) || loose.has(name)) continue
      if (await take(join(objects, name), name)) loose.add(name)
    }
  }
}
