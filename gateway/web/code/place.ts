/** Place in a repository that a page shows: a revision and a path in its tree. */

import { findEntry, pathSegments, type TreeEntry } from '../../../cgi/objects/tree.js'
import { findRevision, type Revision } from '../../../cgi/refs/revision.js'
import { notFound } from '../../../conf/failures.js'
import { decodePercent } from '../../../conf/http.js'
import type { GitReader, RepositoryGrant } from '../../actions/code/git-reader.js'
import type { PlaceName, RevisionKind } from '../../rendering/place-path.js'

export interface Place extends PlaceName {
  readonly revision: Revision
}

const REF_PREFIXES: Readonly<Record<RevisionKind, string>> = {
  branch: 'refs/heads/',
  tag: 'refs/tags/',
  commit: '',
}

const SEGMENTS_MAX = 20

/** Parses `branch/NAME/PATH`, `tag/NAME/PATH` or `commit/ID/PATH`. Throws `not_found`. */
export async function findPlace({ objects }: GitReader, text: string): Promise<Place> {
  const [kind = '', ...segments] = text.split('/').map(decodePercent)
  if (kind !== 'branch' && kind !== 'tag' && kind !== 'commit') throw notFound()
  // No ref name is a folder of another ref name, so the first match is the only one.
  for (let count = 1; count <= Math.min(segments.length, SEGMENTS_MAX); count += 1) {
    const name = segments.slice(0, count).join('/')
    const isNamed = kind !== 'commit' || /^[0-9a-f]{7,64}$/.test(name)
    const revision = isNamed ? await findRevision(objects, REF_PREFIXES[kind] + name) : undefined
    if (revision === undefined) continue
    const path = pathSegments(segments.slice(count).join('/'))
    if (path === undefined) break
    return { kind, name, revision, path }
  }
  throw notFound()
}

/** Returns the root of the default branch. Throws `not_found` if the branch has no commit. */
export async function defaultPlace(
  { objects }: GitReader,
  { repository }: RepositoryGrant,
): Promise<Place> {
  const name = repository.defaultBranch
  const revision = await findRevision(objects, REF_PREFIXES.branch + name)
  if (revision === undefined) throw notFound()
  return { kind: 'branch', name, revision, path: [] }
}

/** Returns the tree entry at a place. Throws `not_found`. */
export async function entryOf({ objects }: GitReader, place: Place): Promise<TreeEntry> {
  const tree = await objects.read(`${place.revision.commitId}^{tree}`)
  const entry = tree && (await findEntry(objects, tree.id, place.path))
  if (entry === undefined) throw notFound()
  return entry
}
