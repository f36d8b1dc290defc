/** Cached lists of references, with one process at most for each state of a repository. */

import { LRUCache } from 'lru-cache'
import type { Git } from '../process/git.js'
import { readPresentState } from '../repository/repository-state.js'
import { listFewReferences } from './few-references.js'
import { listReferences, type Reference, type ReferenceListInput } from './list-references.js'
import {
  changedReferences,
  type ReferenceFiles,
  readReferenceFiles,
  writtenBranches,
} from './reference-files.js'

interface KnownList {
  readonly stateText: string
  /** Undefined if later moves of branches cannot be seen in the files. */
  readonly files: ReferenceFiles | undefined
  readonly references: readonly Reference[]
}

/** Approximate memory of all cached lists, of the longest one, and of one reference. */
const KNOWN_BYTES_MAX = 16_777_216
const LIST_BYTES_MAX = 4_194_304
const REFERENCE_BYTES = 250

/** Lists by repository path, order and namespaces. */
const known = new LRUCache<string, KnownList>({
  maxSize: KNOWN_BYTES_MAX,
  maxEntrySize: LIST_BYTES_MAX,
  sizeCalculation: ({ references }) => 1_000 + REFERENCE_BYTES * references.length,
})

/** Returns a page of the references and their total number. */
export async function pageOfReferences(
  git: Git,
  path: string,
  { offset, limit, ...input }: ReferenceListInput & { offset: number; limit: number },
): Promise<{ readonly entries: readonly Reference[]; readonly total: number }> {
  const references = await allReferences(git, path, input)
  return { entries: references.slice(offset, offset + limit), total: references.length }
}

/** Returns the references of the given namespaces as git lists them. Few need no process. */
export async function allReferences(
  git: Git,
  path: string,
  input: ReferenceListInput,
): Promise<readonly Reference[]> {
  const { order = 'name', namespaces } = input
  const key = [path, order, ...namespaces].join('\0')
  const former = known.get(key)
  const state = readPresentState(path)
  const isSettled = state?.isSettled === true
  if (isSettled && former?.stateText === state.text) return former.references
  const remember = (references: readonly Reference[], files: ReferenceFiles | undefined) => {
    if (!isSettled || readPresentState(path)?.text !== state.text) return
    known.set(key, { stateText: state.text, files, references })
  }
  const files = former?.files && readReferenceFiles(path)
  const changed = former?.files && files && changedReferences(former.files, files)
  const written = changed && writtenBranches(changed)
  const derived = former && written && withWritten(former.references, written, input)
  if (derived !== undefined) {
    remember(derived, files)
    return derived
  }
  const references = (await listFewReferences(path, input)) ?? (await listByGit(git, path, input))
  remember(references, readReferenceFiles(path))
  return references
}

async function listByGit(
  git: Git,
  path: string,
  input: ReferenceListInput,
): Promise<readonly Reference[]> {
  const references: Reference[] = []
  for await (const reference of listReferences(git, path, input)) references.push(reference)
  return references
}

/**
 * Returns the list after changes of branches; undefined if one of them is not in the list, and if
 * the order may be another one.
 */
function withWritten(
  references: readonly Reference[],
  written: ReadonlyMap<string, string>,
  { namespaces, order }: ReferenceListInput,
): readonly Reference[] | undefined {
  if (written.size === 0 || !namespaces.includes('refs/heads')) return references
  if (order === 'newest') return undefined
  let found = 0
  const derived = references.map((reference) => {
    const id = written.get(reference.name)
    if (id === undefined) return reference
    found += 1
    return { ...reference, id }
  })
  return found === written.size ? derived : undefined
}
