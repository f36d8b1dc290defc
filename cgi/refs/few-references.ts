/** Lists of few references as `git for-each-ref` prints them, without a process. */

import type { GitObject } from '../objects/cat-file.js'
import { parseCommit, parseTag } from '../objects/commit-object.js'
import { openPacks } from '../objects/packed-objects.js'
import type { Reference, ReferenceListInput } from './list-references.js'
import { type ListedReference, listStoredReferences } from './listed-references.js'

/** Maximum number of references whose objects are read; git lists more of them more cheaply. */
const READ_MAX = 100

const NAMES = {
  'refs/heads': /^refs\/heads\//,
  'refs/tags': /^refs\/tags\//,
  'refs/pull/*/head': /^refs\/pull\/[^/]+\/head$/,
} as const

/**
 * Lists the references of the given namespaces. Returns undefined if git must list them: if they
 * are many, or if the packs lack one of their objects.
 */
export async function listFewReferences(
  path: string,
  { namespaces, order }: ReferenceListInput,
): Promise<readonly Reference[] | undefined> {
  const listed = await listStoredReferences(path)
  const wanted = listed?.references.filter(({ name }) =>
    namespaces.some((namespace) => NAMES[namespace].test(name)),
  )
  if (wanted === undefined) return undefined
  if (order === 'newest') return await sortByDate(path, wanted)
  const untyped = wanted.filter((reference) => typeOf(reference) === undefined)
  const objects = await readAll(path, untyped)
  return (
    objects &&
    wanted.map((reference) => {
      const { name, oid: id } = reference
      return { name, id, type: typeOf(reference) ?? objects.get(id)?.type ?? '' }
    })
  )
}

/** Returns the type of the object of a reference; undefined if the object must be read. */
function typeOf({ name, peeled }: ListedReference): string | undefined {
  // Git lets no branch be another object, and the gateway no head of a pull request.
  if (!NAMES['refs/tags'].test(name)) return 'commit'
  return peeled === undefined ? undefined : 'tag'
}

/** Sorts by the date of an annotated tag, else of the commit, and then by name, both descending. */
async function sortByDate(
  path: string,
  wanted: readonly ListedReference[],
): Promise<readonly Reference[] | undefined> {
  const objects = await readAll(path, wanted)
  const dated = wanted.map(({ name, oid: id }) => {
    const object = objects?.get(id)
    return { reference: { name, id, type: object?.type ?? '' }, atMs: object ? dateOf(object) : 0 }
  })
  const sorted = dated.toReversed().sort((a, b) => b.atMs - a.atMs)
  return objects && sorted.map(({ reference }) => reference)
}

function dateOf({ type, id, content }: GitObject): number {
  if (content === undefined) return 0
  if (type === 'commit') return parseCommit(id, content).committer.atMs
  return type === 'tag' ? (parseTag(id, content).tagger?.atMs ?? 0) : 0
}

/** Reads the objects of references by id; undefined if they are many, or if one is not found. */
async function readAll(
  path: string,
  references: readonly ListedReference[],
): Promise<ReadonlyMap<string, GitObject> | undefined> {
  const found = new Map<string, GitObject>()
  if (references.length > READ_MAX) return undefined
  const objects = openPacks(path)
  try {
    for (const { oid } of references) {
      const object = (await objects.read(oid))?.object
      if (object === undefined) return undefined
      found.set(oid, object)
    }
    return found
  } finally {
    await objects.close()
  }
}
