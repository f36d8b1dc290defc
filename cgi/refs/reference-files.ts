/** Snapshots of the reference files of a bare repository, and the branches that moved between. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { unlessMissingSync } from '../../conf/lib/disk.js'

/** Snapshot of the references of a repository; `movedBranches` compares two of them. */
export interface ReferenceFiles {
  /** Ids of the loose references by full name. */
  readonly loose: ReadonlyMap<string, string>
  /** Changes with `HEAD` and with `packed-refs`. */
  readonly otherText: string
}

/** Maximum number of loose references; reading more would be slower than running git. */
const LOOSE_MAX = 64

const OID_LINE = /^([0-9a-f]{40}|[0-9a-f]{64})\n$/

/**
 * Reads a snapshot. Returns undefined if there are too many loose references, if one does not
 * contain just an object id (gitrepository-layout(5)), or if references are not stored in files.
 */
export function readReferenceFiles(repositoryPath: string): ReferenceFiles | undefined {
  // If a file disappears meanwhile, this would not be a consistent snapshot.
  return unlessMissingSync(() => {
    const loose = readLoose(repositoryPath)
    if (loose === undefined) return undefined
    const head = readFileSync(join(repositoryPath, 'HEAD'), 'latin1')
    return { loose, otherText: `${head}\n${packedStamp(repositoryPath)}` }
  })
}

function readLoose(repositoryPath: string): ReadonlyMap<string, string> | undefined {
  const loose = new Map<string, string>()
  const folders = ['refs']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(join(repositoryPath, folder), { withFileTypes: true })) {
      const name = `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        folders.push(name)
        continue
      }
      const text = entry.isFile() ? readFileSync(join(repositoryPath, name), 'latin1') : ''
      const [, oid] = OID_LINE.exec(text) ?? []
      if (oid === undefined || loose.size === LOOSE_MAX) return undefined
      loose.set(name, oid)
    }
  }
  return loose
}

function packedStamp(repositoryPath: string): string {
  const stat = statSync(join(repositoryPath, 'packed-refs'), { throwIfNoEntry: false })
  return stat === undefined ? 'none' : `${stat.ino} ${stat.ctimeMs} ${stat.size}`
}

/**
 * Returns the new ids of the branches that moved, by full name. Returns undefined if a branch was
 * created or deleted, or if anything else changed. The new ids are ids of commits, because git
 * writes no other objects into an existing branch.
 */
export function movedBranches(
  before: ReferenceFiles,
  after: ReferenceFiles,
): ReadonlyMap<string, string> | undefined {
  if (before.otherText !== after.otherText || before.loose.size !== after.loose.size) {
    return undefined
  }
  const moved = new Map<string, string>()
  for (const [name, oid] of after.loose) {
    const former = before.loose.get(name)
    if (former === oid) continue
    if (former === undefined || !name.startsWith('refs/heads/')) return undefined
    moved.set(name, oid)
  }
  return moved
}
