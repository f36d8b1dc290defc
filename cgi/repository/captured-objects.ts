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

const PASSES_MAX = 50

/**
 * Takes all packs and loose objects. All objects that are reachable at the call are among them,
 * because repacks write a new pack before they remove packs and loose objects, and because this
 * repeats until no pack was added or removed meanwhile. A running prune has moved some packs to
 * `expired`, from where it may move them back, so those are included.
 *
 * Indexes over several packs, bitmaps and the commit-graph are left out: maintenance writes them.
 */
export async function captureObjects(path: string, take: TakeFile): Promise<CapturedObjects> {
  const packs = new Set<string>()
  const loose = new Set<string>()
  const objects = join(path, 'objects')
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const before = await listPacks(objects)
    const isWhole = await takePacks(before, { packs, take })
    await takeLoose(objects, { loose, take })
    const after = await listPacks(objects)
    if (isWhole && before.join() === after.join()) return { packs: [...packs], loose: [...loose] }
  }
  throw new Error(`the packs of ${path} changed during all ${PASSES_MAX} attempts to copy them`)
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

async function takePacks(
  paths: readonly string[],
  { packs, take }: { readonly packs: Set<string>; readonly take: TakeFile },
): Promise<boolean> {
  let isWhole = true
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (packs.has(name)) continue
    const isTaken =
      (await take(`${path}.pack`, `${name}.pack`)) && (await take(`${path}.idx`, `${name}.idx`))
    if (isTaken) packs.add(name)
    else isWhole = false
  }
  return isWhole
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
