/** Files that the snapshots of a backup folder share, added once and flushed. */

import { constants } from 'node:fs'
import { copyFile, link, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncPath, unlessMissing } from '../../conf/lib/disk.js'

export interface SharedFiles {
  /** Adds a file unless its name exists. Returns false if the source is missing. */
  addFile(source: string, target: string): Promise<boolean>
  /** Adds the bytes of a stream unless the name exists. */
  addBytes(target: string, open: () => Promise<AsyncIterable<Uint8Array>>): Promise<void>
  /** Flushes the names of all added files. */
  flush(): Promise<void>
}

/**
 * Opens the shared files. A name never has other content, because packs, loose objects and blobs
 * are named by it. A file gets its name only when its bytes are on the disk. `incoming` is an empty
 * folder on the same file system for the others.
 */
export function openSharedFiles(dir: string, incoming: string): SharedFiles {
  const changed = new Set<string>()
  let isLinking = true
  let copies = 0
  const exists = async (path: string) => (await unlessMissing(stat(path))) !== undefined
  const makeParent = async (target: string) => {
    const parent = dirname(target)
    if (changed.has(parent)) return
    await mkdir(parent, { recursive: true, mode: 0o700 })
    changed.add(parent)
  }
  const add = async (target: string, write: (part: string) => Promise<void>) => {
    copies += 1
    const part = join(incoming, String(copies))
    try {
      await write(part)
      await rename(part, target)
    } finally {
      await rm(part, { force: true })
    }
  }
  return {
    async addFile(source, target) {
      await makeParent(target)
      if (isLinking) {
        const linked = await tryLink(source, target)
        if (linked !== 'unsupported') return linked
        isLinking = false
      }
      if (await exists(target)) return true
      const copied = add(target, async (part) => {
        await copyFile(source, part, constants.COPYFILE_FICLONE)
        await syncPath(part)
      })
      return (await unlessMissing(copied.then(() => true))) ?? false
    },
    async addBytes(target, openBytes) {
      if (await exists(target)) return
      await makeParent(target)
      await add(target, async (part) => {
        const file = await open(part, 'wx', 0o600)
        try {
          for await (const chunk of await openBytes()) await file.write(chunk)
          await file.sync()
        } finally {
          await file.close()
        }
      })
    },
    async flush() {
      const folders = new Set<string>()
      for (const folder of changed) {
        for (let each = folder; each.length >= dir.length; each = dirname(each)) folders.add(each)
      }
      for (const folder of folders) await syncPath(folder)
      changed.clear()
    },
  }
}

/** Links a file. Returns false if the source is missing. */
async function tryLink(source: string, target: string): Promise<boolean | 'unsupported'> {
  try {
    await link(source, target)
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EEXIST') return true
    if (code === 'ENOENT') return false
    if (code === 'EXDEV' || code === 'EPERM' || code === 'EMLINK') return 'unsupported'
    throw error
  }
}
