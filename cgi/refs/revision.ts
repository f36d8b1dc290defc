/** Resolves names of commits from clients to unambiguous names for git. */

import { isReferenceName } from '../../conf/names.js'
import type { GitObject } from '../objects/cat-file.js'
import type { ObjectReader } from '../objects/objects.js'

/** A resolved name. */
export interface Revision {
  /** Full ref name, such as `refs/heads/main`, or a full id. */
  readonly name: string
  readonly commitId: string
  /** Short name of a branch or tag; otherwise the name from the client, or the full id. */
  readonly shortName: string
  readonly kind: 'branch' | 'tag' | 'commit' | 'other'
}

/**
 * Finds a commit by the name of a branch or tag, `HEAD`, `refs/heads/…`, `refs/tags/…`,
 * `refs/pull/N/head`, or an id of at least 7 digits. Returns undefined if there is none. Other
 * revision syntax of git (`~`, `^`, `@{…}`, `:`) is not supported.
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

/** Finds an object by an id or, like `findRevision`, by a reference. */
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

/** Lists the possible meanings of a name in order: branch, tag, id. */
function candidatesOf(text: string): readonly Candidate[] {
  const full = /^refs\/(heads|tags|pull)\/(.+)$/.exec(text)
  if (full !== null) {
    const [, namespace = '', rest = ''] = full
    if (namespace === 'pull') return /^\d{1,15}\/head$/.test(rest) ? [['other', text, text]] : []
    if (!isReferenceName(rest)) return []
    return [[namespace === 'heads' ? 'branch' : 'tag', rest, text]]
  }
  if (text === 'HEAD') return [['other', text, text]]
  const found: Candidate[] = []
  if (isReferenceName(text)) {
    found.push(['branch', text, `refs/heads/${text}`], ['tag', text, `refs/tags/${text}`])
  }
  if (/^[0-9a-f]{7,64}$/i.test(text)) found.push(['commit', text, text.toLowerCase()])
  return found
}
