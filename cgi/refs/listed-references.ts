/** Lists the refs of a repository from its files, as `git upload-pack` does, without a process. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unlessMissingSync } from '../../conf/lib/disk.js'
import { isReferenceName } from '../../conf/names.js'
import { parseTag } from '../objects/commit-object.js'
import { listPacks, PackedObjects } from '../objects/packed-objects.js'
import { VISIBLE_NAME } from './pushed-references.js'
import { readStoredReferences, type StoredReferences } from './reference-files.js'

/** A ref as upload-pack lists it. */
export interface ListedReference {
  readonly name: string
  readonly oid: string
  /** Id of the object that an annotated tag names, at the end of a chain of tags. */
  readonly peeled: string | undefined
}

export interface ListedReferences {
  /** Full name of the branch that `HEAD` names, which may not exist. */
  readonly head: string
  /** Sorted by name. */
  readonly references: readonly ListedReference[]
}

/** Maximum number of lookups in indexes of packs; git lists more refs more cheaply. */
const LOOKUPS_MAX = 1_000

/** Maximum length of a chain of annotated tags. */
const TAGS_MAX = 10

const HEAD_TEXT = /^ref: (refs\/heads\/[!-~]+)\n$/

/** Names of refs that git reads objects through, so that a tag may name another object. */
const REPLACEMENT = /^refs\/replace\//

/**
 * Lists the refs that a clone sees under conf/git.config. Git lists a ref only if its object is
 * present. Returns undefined if git must list them: if they are many, or if the packs lack an
 * object. The caller checks that no setting hides refs, and that the refs stay the same meanwhile.
 */
export async function listStoredReferences(
  repositoryPath: string,
): Promise<ListedReferences | undefined> {
  const stored = readStoredReferences(repositoryPath)
  const head = stored && readHead(repositoryPath)
  if (stored === undefined || head === undefined) return undefined
  const names = [...new Set([...stored.loose.keys(), ...stored.packed.keys()])]
  if (names.some((name) => REPLACEMENT.test(name))) return undefined
  const visible = names.filter((name) => VISIBLE_NAME.test(name)).sort()
  const packs = listPacks(repositoryPath)
  if (visible.length * packs.size > LOOKUPS_MAX) return undefined
  const objects = new PackedObjects(repositoryPath, packs)
  try {
    const references: ListedReference[] = []
    for (const name of visible) {
      const reference = await listedOf(objects, stored, name)
      if (reference === undefined) return undefined
      references.push(reference)
    }
    return { head, references }
  } finally {
    await objects.close()
  }
}

/** Returns the branch of `HEAD`; undefined if it is not a symbolic ref to a branch. */
function readHead(repositoryPath: string): string | undefined {
  const text = unlessMissingSync(() => readFileSync(join(repositoryPath, 'HEAD'), 'latin1'))
  const [, name] = HEAD_TEXT.exec(text ?? '') ?? []
  return name !== undefined && isReferenceName(name) ? name : undefined
}

/** Returns undefined if git must read the object of the ref. */
async function listedOf(
  objects: PackedObjects,
  { loose, packed, arePeeled }: StoredReferences,
  name: string,
): Promise<ListedReference | undefined> {
  const looseOid = loose.get(name)
  const entry = packed.get(name)
  const oid = looseOid ?? entry?.oid
  if (oid === undefined) return undefined
  if (looseOid === undefined && arePeeled) {
    const pack = await objects.findPack(oid)
    return pack === undefined ? undefined : { name, oid, peeled: entry?.peeled }
  }
  let found = await objects.readInfo(oid)
  for (let tags = 0; found?.object.type === 'tag'; tags += 1) {
    const { id } = found.object
    const content = (await objects.read(id))?.object.content
    if (content === undefined || tags === TAGS_MAX) return undefined
    found = await objects.readInfo(parseTag(id, content).object)
  }
  const id = found?.object.id
  return id === undefined ? undefined : { name, oid, peeled: id === oid ? undefined : id }
}
