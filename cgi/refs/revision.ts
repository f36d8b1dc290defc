/** What a caller calls a commit, as a name that means one thing to git: the one place for it. */

import { isReferenceName } from '../../conf/names.js'
import type { GitObject, ObjectReader } from '../objects/objects.js'

/** A name that was found, and what it leads to. */
export interface Revision {
  /** `refs/heads/…` and the like, or a full id. */
  readonly name: string
  readonly commitId: string
  /** The short name of a branch or a tag; the id itself for neither. */
  readonly shortName: string
  readonly kind: 'branch' | 'tag' | 'commit' | 'other'
}

/**
 * The commit that `text` names: a branch, a tag, `refs/heads/…`, `refs/tags/…`,
 * `refs/pull/N/head`, or an id of at least 7 digits. Undefined where there is none. Nothing else of
 * git's language is understood (`~`, `^`, `@{…}`, `:`), and nothing else is looked at.
 */
export async function findRevision(
  objects: ObjectReader,
  text: string,
): Promise<Revision | undefined> {
  for (const [kind, shortName, name] of candidatesOf(text)) {
    const found = await objects.read(`${name}^{commit}`)
    if (found?.type === 'commit') {
      const { id } = found
      return kind === 'commit'
        ? { kind, commitId: id, name: id, shortName: id }
        : { kind, commitId: id, name, shortName }
    }
  }
  return undefined
}

/** The object of an id or, like `findRevision`, of a reference. */
export async function findObject(
  objects: ObjectReader,
  text: string,
  contentBytesMax?: number,
): Promise<GitObject | undefined> {
  for (const [, , name] of candidatesOf(text)) {
    const found = await objects.read(name, contentBytesMax)
    if (found !== undefined) return found
  }
  return undefined
}

type Candidate = readonly [kind: Revision['kind'], shortName: string, name: string]

/** Branches win over tags and both over ids, as the names that people chose. */
function candidatesOf(text: string): readonly Candidate[] {
  const full = /^refs\/(heads|tags|pull)\/(.+)$/.exec(text)
  if (full !== null) {
    const [, room = '', rest = ''] = full
    if (room === 'pull') return /^\d{1,15}\/head$/.test(rest) ? [['other', text, text]] : []
    if (!isReferenceName(rest)) return []
    return [[room === 'heads' ? 'branch' : 'tag', rest, text]]
  }
  if (text === 'HEAD') return [['other', text, text]]
  const found: Candidate[] = []
  if (isReferenceName(text)) {
    found.push(['branch', text, `refs/heads/${text}`], ['tag', text, `refs/tags/${text}`])
  }
  if (/^[0-9a-f]{7,64}$/i.test(text)) found.push(['commit', text, text.toLowerCase()])
  return found
}
