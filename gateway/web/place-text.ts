/** How an address names a place in a repository. */

export type RevisionKind = 'branch' | 'tag' | 'commit'

/** A revision by its name, and a path in its tree. */
export interface PlaceName {
  readonly kind: RevisionKind
  readonly name: string
  /** Empty for the top. */
  readonly path: readonly string[]
}

/** The part of an address that names a place, percent-encoded. */
export function placeText({ kind, name, path }: PlaceName): string {
  return [kind, ...name.split('/'), ...path].map(encodeURIComponent).join('/')
}
