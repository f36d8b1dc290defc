/** Reference files of bare repositories: their contents, and the branches that moved between. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { unlessMissingSync } from '../../conf/lib/disk.js'
import { isReferenceName } from '../../conf/names.js'
import { PUSHED_PREFIXES } from './pushed-references.js'

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

/** Maximum size of `packed-refs` to read. */
const PACKED_BYTES_MAX = 16_384

/**
 * Returns the ids of the references that `git receive-pack` shows by full name, in git's order.
 * Like git, reads loose references first and `packed-refs` then, because git packs a reference
 * before it removes the loose one. Returns undefined if git must list the references: if there are
 * too many, or if one is symbolic or has a name with other characters than those of ASCII. Git
 * shows references to missing objects too.
 */
export function readPushedReferences(
  repositoryPath: string,
): ReadonlyMap<string, string> | undefined {
  return unlessMissingSync(() => {
    const loose = readLoose(repositoryPath)
    const packed = loose && readPacked(repositoryPath)
    if (loose === undefined || packed === undefined) return undefined
    const all = new Map([...packed, ...loose])
    const shown = [...all].filter(([name]) => isPushed(name)).sort(byName)
    if (!shown.every(([name]) => IS_ASCII.test(name) && isReferenceName(name))) return undefined
    return new Map(shown)
  })
}

const IS_ASCII = /^[!-~]+$/
const PACKED_LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) (refs\/[!-~]+)$/

function readPacked(repositoryPath: string): ReadonlyMap<string, string> | undefined {
  const path = join(repositoryPath, 'packed-refs')
  const size = statSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) return new Map()
  if (size > PACKED_BYTES_MAX) return undefined
  const packed = new Map<string, string>()
  for (const line of readFileSync(path, 'latin1').split('\n')) {
    // The first line has a comment, and an annotated tag is followed by the commit that it names.
    if (line === '' || line.startsWith('#') || line.startsWith('^')) continue
    const [, oid, name] = PACKED_LINE.exec(line) ?? []
    if (oid === undefined || name === undefined) return undefined
    packed.set(name, oid)
  }
  return packed
}

function isPushed(name: string): boolean {
  return PUSHED_PREFIXES.some((prefix) => name === prefix || name.startsWith(`${prefix}/`))
}

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1
}
