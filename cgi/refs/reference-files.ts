/** Reference files of bare repositories: their contents, and the changes between two readings. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing, unlessMissingSync } from '../../conf/lib/disk.js'
import { isReferenceName } from '../../conf/names.js'
import { isSettledAt } from '../repository/repository-state.js'
import { PUSHED_PREFIXES } from './pushed-references.js'

/** Snapshot of the references of a repository; `changedReferences` compares two of them. */
export interface ReferenceFiles {
  /** Ids of the loose references by full name. */
  readonly loose: ReadonlyMap<string, string>
  /** Contents of `HEAD`. */
  readonly headText: string
  /** Inode, change time and size of `packed-refs`. */
  readonly packedStamp: string
  /** True if a later change of `packed-refs` alters the stamp. */
  readonly isPackedSettled: boolean
}

/** Maximum bytes of the names and ids of loose references; upkeep packs them from 32 on. */
const LOOSE_BYTES_MAX = 262_144

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
    const headText = readFileSync(join(repositoryPath, 'HEAD'), 'latin1')
    return { loose, headText, ...readPackedStamp(repositoryPath) }
  })
}

function readLoose(repositoryPath: string): ReadonlyMap<string, string> | undefined {
  const loose = new Map<string, string>()
  let bytes = 0
  const folders = ['refs']
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(join(repositoryPath, folder), { withFileTypes: true })) {
      const name = `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        folders.push(name)
        continue
      }
      // Git leaves out the lock of a reference that is being written.
      if (name.endsWith('.lock')) continue
      const text = entry.isFile() ? readFileSync(join(repositoryPath, name), 'utf8') : ''
      const [, oid] = OID_LINE.exec(text) ?? []
      bytes += name.length + text.length
      if (oid === undefined || bytes > LOOSE_BYTES_MAX) return undefined
      loose.set(name, oid)
    }
  }
  return loose
}

function readPackedStamp(
  repositoryPath: string,
): Pick<ReferenceFiles, 'isPackedSettled' | 'packedStamp'> {
  const readAtMs = Date.now()
  const stat = statSync(join(repositoryPath, 'packed-refs'), { throwIfNoEntry: false })
  if (stat === undefined) return { packedStamp: 'none', isPackedSettled: true }
  const { ino, ctimeMs, size } = stat
  return {
    packedStamp: `${ino} ${ctimeMs} ${size}`,
    isPackedSettled: isSettledAt(ctimeMs, readAtMs),
  }
}

/** Names of branches in ASCII. */
const BRANCH_NAME = /^refs\/heads\/[!-~]+$/

/**
 * Returns the references that changed, by full name, with their new ids. A file that appeared is of
 * a new reference or of a packed one; the id is undefined if the file disappeared, because then the
 * reference was deleted, or it is packed. Returns undefined if `HEAD` or packed references changed.
 */
export function changedReferences(
  before: ReferenceFiles,
  after: ReferenceFiles,
): ReadonlyMap<string, string | undefined> | undefined {
  const isSame = before.headText === after.headText && before.packedStamp === after.packedStamp
  if (!isSame) return undefined
  const changed = new Map<string, string | undefined>()
  for (const [name, oid] of after.loose) if (before.loose.get(name) !== oid) changed.set(name, oid)
  for (const name of before.loose.keys()) if (!after.loose.has(name)) changed.set(name, undefined)
  return changed
}

/**
 * Returns the changed references if all of them are branches that were written; otherwise
 * undefined. Their ids are ids of commits, because git writes no other objects into a branch.
 */
export function writtenBranches(
  changed: ReadonlyMap<string, string | undefined>,
): ReadonlyMap<string, string> | undefined {
  const written = new Map<string, string>()
  for (const [name, oid] of changed) {
    if (oid === undefined || !BRANCH_NAME.test(name) || !isReferenceName(name)) return undefined
    written.set(name, oid)
  }
  return written
}

/** Reads `packed-refs`; undefined if it is longer than `bytesMax`. It is empty if it is missing. */
export async function readPackedFile(
  repositoryPath: string,
  bytesMax: number,
): Promise<Buffer | undefined> {
  const path = join(repositoryPath, 'packed-refs')
  const size = (await unlessMissing(stat(path)))?.size ?? 0
  if (size > bytesMax) return undefined
  return (await unlessMissing(readFile(path))) ?? Buffer.alloc(0)
}

/** Reads `packed-refs` without a wait; undefined if it is longer than `bytesMax`, or missing. */
export function readShortPackedFile(repositoryPath: string, bytesMax: number): Buffer | undefined {
  const size = packedBytes(repositoryPath)
  if (size === undefined || size > bytesMax) return undefined
  return unlessMissingSync(() => readFileSync(join(repositoryPath, 'packed-refs')))
}

/** Maximum size of `packed-refs` to parse: about 250 refs, which git lists more cheaply. */
const PACKED_BYTES_MAX = 16_384

/** A ref in `packed-refs`. */
export interface PackedReference {
  readonly oid: string
  /** Id of the object that an annotated tag names. */
  readonly peeled: string | undefined
}

/** Refs of a repository by full name, as its files have them. A loose ref hides a packed one. */
export interface StoredReferences {
  readonly loose: ReadonlyMap<string, string>
  readonly packed: ReadonlyMap<string, PackedReference>
  /** True if each packed annotated tag has its object beside it. */
  readonly arePeeled: boolean
}

/**
 * Reads all refs. Like git, reads loose refs first and `packed-refs` then, because git packs a ref
 * before it removes the loose one. Returns undefined if git must list the refs: if there are too
 * many, or if one is symbolic or has a name with other characters than those of ASCII.
 */
export function readStoredReferences(repositoryPath: string): StoredReferences | undefined {
  return unlessMissingSync(() => {
    if ((packedBytes(repositoryPath) ?? 0) > PACKED_BYTES_MAX) return undefined
    const loose = readLoose(repositoryPath)
    const packed = loose && readPacked(repositoryPath)
    if (loose === undefined || packed === undefined) return undefined
    const names = [...loose.keys(), ...packed.packed.keys()]
    if (!names.every((name) => IS_ASCII.test(name) && isReferenceName(name))) return undefined
    return { loose, ...packed }
  })
}

/**
 * Returns the ids of the refs that `git receive-pack` shows by full name, in git's order. Git shows
 * refs to missing objects too. Returns undefined if git must list the refs.
 */
export function readPushedReferences(
  repositoryPath: string,
): ReadonlyMap<string, string> | undefined {
  const stored = readStoredReferences(repositoryPath)
  if (stored === undefined) return undefined
  const all = new Map<string, string>()
  for (const [name, { oid }] of stored.packed) if (isPushed(name)) all.set(name, oid)
  for (const [name, oid] of stored.loose) if (isPushed(name)) all.set(name, oid)
  return new Map([...all].sort(byName))
}

const IS_ASCII = /^[!-~]+$/
const HEADER = /^# pack-refs with:[^\n]* fully-peeled[^\n]*\n/
const PACKED_LINE = /^([0-9a-f]{40}|[0-9a-f]{64}) (refs\/[!-~]+)$/
const PEELED_LINE = /^\^([0-9a-f]{40}|[0-9a-f]{64})$/

function readPacked(repositoryPath: string): Omit<StoredReferences, 'loose'> | undefined {
  const packed = new Map<string, PackedReference>()
  const size = packedBytes(repositoryPath)
  if (size === undefined) return { packed, arePeeled: true }
  if (size > PACKED_BYTES_MAX) return undefined
  const text = readFileSync(join(repositoryPath, 'packed-refs'), 'latin1')
  let last = ''
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, peeled] = PEELED_LINE.exec(line) ?? []
    const tag = packed.get(last)
    if (peeled !== undefined && tag !== undefined) {
      packed.set(last, { oid: tag.oid, peeled })
      continue
    }
    const [, oid, name] = PACKED_LINE.exec(line) ?? []
    if (oid === undefined || name === undefined) return undefined
    packed.set(name, { oid, peeled: undefined })
    last = name
  }
  return { packed, arePeeled: HEADER.test(text) }
}

/** Returns the size of `packed-refs`; undefined if it is missing. */
function packedBytes(repositoryPath: string): number | undefined {
  return statSync(join(repositoryPath, 'packed-refs'), { throwIfNoEntry: false })?.size
}

function isPushed(name: string): boolean {
  return PUSHED_PREFIXES.some((prefix) => name === prefix || name.startsWith(`${prefix}/`))
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}
