/** Paths of revisions, files and folders in the URLs of pages. */

export type RevisionKind = 'branch' | 'tag' | 'commit'

/** Revision name and a path in its tree. */
export interface PlaceName {
  readonly kind: RevisionKind
  readonly name: string
  /** Names of the folders and the file; empty for the root of the tree. */
  readonly path: readonly string[]
}

/** Returns the part of a path that names a revision and a file or folder, percent-encoded. */
export function placePath({ kind, name, path }: PlaceName): string {
  return [kind, ...name.split('/'), ...path].map(encodeURIComponent).join('/')
}
