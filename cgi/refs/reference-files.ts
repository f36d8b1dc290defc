/** The references of a bare repository as they stand in their files, for what moved since. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Read at one moment; two of one repository tell which branches moved between them. */
export interface ReferenceFiles {
  /** What each loose reference holds, by its full name. */
  readonly loose: ReadonlyMap<string, string>
  /** Changes with `HEAD` and with `packed-refs`. */
  readonly otherText: string
}

/** More than these are dearer to read than git is to ask. */
const LOOSE_MAX = 64

const OID_LINE = /^([0-9a-f]{40}|[0-9a-f]{64})\n$/

/**
 * All of them. Undefined where there are too many, or one that is not plainly an object name
 * (gitrepository-layout(5)), or where they are not in such files at all.
 */
export function readReferenceFiles(repositoryPath: string): ReferenceFiles | undefined {
  try {
    const loose = readLoose(repositoryPath)
    if (loose === undefined) return undefined
    const head = readFileSync(join(repositoryPath, 'HEAD'), 'latin1')
    return { loose, otherText: `${head}\n${packedStamp(repositoryPath)}` }
  } catch (error) {
    // Somebody changes them just now, so there is no one moment to tell of.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
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
 * The branches that stand elsewhere now, by full name. Undefined where anything else changed, or a
 * branch came or went: a branch that moves is a commit for certain, as git writes no other into it.
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
