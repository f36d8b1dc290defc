/** The ContentsResponse of this API: a file, a folder, a link or a submodule at a path. */

import { type Static, Type } from 'typebox'
import type { Commit } from '../../../cgi/objects/commit-object.js'
import type { EntryKind, TreeEntry } from '../../../cgi/objects/tree.js'
import type { Revision } from '../../../cgi/refs/revision.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { LfsPointer } from '../../actions/code/lfs-pointer.js'
import type { Context } from '../../request/context.js'
import { nullable, omissible, TIME } from '../schema.js'
import { addressesOf, signatureTime } from './commit-json.js'

const FILE_LINKS_RESPONSE = Type.Object(
  {
    self: nullable(Type.String()),
    git: nullable(Type.String()),
    html: nullable(Type.String()),
  },
  { $id: 'FileLinksResponse' },
)

export const CONTENTS_RESPONSE = Type.Object(
  {
    name: Type.String(),
    path: Type.String(),
    sha: Type.String(),
    last_commit_sha: nullable(Type.String()),
    last_committer_date: omissible(TIME),
    last_author_date: omissible(TIME),
    last_commit_message: omissible(Type.String()),
    type: Type.Enum(['file', 'dir', 'symlink', 'submodule']),
    size: Type.Integer(),
    encoding: nullable(Type.String()),
    content: nullable(Type.String()),
    target: nullable(Type.String()),
    url: nullable(Type.String()),
    html_url: nullable(Type.String()),
    git_url: nullable(Type.String()),
    download_url: nullable(Type.String()),
    submodule_git_url: nullable(Type.String()),
    _links: nullable(FILE_LINKS_RESPONSE),
    lfs_oid: omissible(Type.String()),
    lfs_size: omissible(Type.Integer()),
  },
  { $id: 'ContentsResponse' },
)

export type ContentsObject = Static<typeof CONTENTS_RESPONSE>

/** File, folder, link or submodule at a path of a revision. */
export interface Contents {
  readonly revision: Pick<Revision, 'kind' | 'shortName' | 'commitId'>
  /** Path in the repository, without leading and trailing slashes. */
  readonly path: string
  readonly entry: Pick<TreeEntry, 'id' | 'kind'>
  readonly sizeBytes: number
  /** Commit that last changed the path, if known. */
  readonly lastCommit: Commit | undefined
  /** True to include the message of that commit. */
  readonly hasMessage?: boolean
  /** Content of a link, and of a file whose content is included. */
  readonly content?: Buffer | undefined
  /** Pointer of Git LFS that the file is, if pointers are included. */
  readonly lfsPointer?: LfsPointer | undefined
  /** URL of the submodule in `.gitmodules`. */
  readonly submoduleUrl?: string | undefined
}

/** Returns the ContentsResponse of a file, a folder, a link or a submodule. */
export function contentsObject(
  context: Context,
  repository: Repository,
  contents: Contents,
): ContentsObject {
  const { entry, path, content, sizeBytes } = contents
  const { kind, id } = entry
  const { api, html } = addressesOf(context, repository)
  const escaped = escapePath(path)
  const { shortName } = contents.revision
  const place = `${placeOf(contents.revision)}/${escaped}`
  const url = `${api}/contents/${escaped}?ref=${encodeURIComponent(shortName)}`
  const gitUrl =
    kind === 'submodule' ? null : `${api}/git/${kind === 'directory' ? 'trees' : 'blobs'}/${id}`
  const htmlUrl = `${html}/src/${place}`
  const isWhole = kind === 'file' && content !== undefined
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    sha: id,
    last_commit_sha: contents.lastCommit?.id ?? null,
    ...commitFields(contents),
    type: TYPES[kind],
    size: kind === 'directory' || kind === 'submodule' ? 0 : sizeBytes,
    encoding: isWhole ? 'base64' : null,
    content: isWhole ? content.toString('base64') : null,
    target: kind === 'symlink' ? (content?.toString() ?? null) : null,
    url,
    html_url: htmlUrl,
    git_url: gitUrl,
    download_url: kind === 'file' || kind === 'symlink' ? `${html}/raw/${place}` : null,
    submodule_git_url: kind === 'submodule' ? (contents.submoduleUrl ?? null) : null,
    _links: { self: url, git: gitUrl, html: htmlUrl },
    ...lfsFields(contents.lfsPointer),
  }
}

function commitFields({ lastCommit, hasMessage }: Pick<Contents, 'lastCommit' | 'hasMessage'>) {
  if (lastCommit === undefined) return {}
  const { author, committer, message } = lastCommit
  return {
    last_committer_date: signatureTime(committer),
    last_author_date: signatureTime(author),
    ...(hasMessage ? { last_commit_message: message } : {}),
  }
}

/** Returns the fields of a pointer of Git LFS; none for other files. */
export function lfsFields(pointer: LfsPointer | undefined) {
  return pointer === undefined ? {} : { lfs_oid: pointer.oid, lfs_size: pointer.bytes }
}

const TYPES = {
  file: 'file',
  directory: 'dir',
  symlink: 'symlink',
  submodule: 'submodule',
} as const satisfies Readonly<Record<EntryKind, ContentsObject['type']>>

/** Returns the part of web URLs that names the revision: `branch/main`. */
function placeOf({ kind, shortName, commitId }: Contents['revision']): string {
  return kind === 'branch' || kind === 'tag'
    ? `${kind}/${escapePath(shortName)}`
    : `commit/${commitId}`
}

/** Percent-encodes a path or a branch name for a URL and keeps its slashes. */
export function escapePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
