/** Wiki pages of the API, and their commits. */

import { type Static, Type } from 'typebox'
import type { Commit, Signature } from '../../../cgi/objects/commit-object.js'
import type { WikiName } from '../../../conf/wiki-name.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { addressesOf, commitUser } from '../code/commit-json.js'
import { COMMIT_USER } from '../code/commit-schema.js'

const WIKI_COMMIT = Type.Object(
  {
    sha: Type.String(),
    author: COMMIT_USER,
    // Gitea spells it so.
    commiter: COMMIT_USER,
    message: Type.String(),
  },
  { $id: 'WikiCommit' },
)

const META_DATA = {
  title: Type.String(),
  html_url: Type.String(),
  sub_url: Type.String(),
  last_commit: WIKI_COMMIT,
}

export const WIKI_PAGE_META_DATA = Type.Object(META_DATA, { $id: 'WikiPageMetaData' })

export const WIKI_PAGE = Type.Object(
  {
    ...META_DATA,
    content_base64: Type.String(),
    commit_count: Type.Integer(),
    sidebar: Type.String(),
    footer: Type.String(),
  },
  { $id: 'WikiPage' },
)

export const WIKI_COMMIT_LIST = Type.Object(
  { commits: Type.Array(WIKI_COMMIT), count: Type.Integer() },
  { $id: 'WikiCommitList' },
)

type WikiCommitObject = Static<typeof WIKI_COMMIT>
type WikiMetaObject = Static<typeof WIKI_PAGE_META_DATA>

/** Returns the fields of a page that lists contain. */
export function wikiMetaObject(
  context: Context,
  repository: Repository,
  { title, segment, lastCommit }: WikiName & { readonly lastCommit: Commit },
): WikiMetaObject {
  return {
    title,
    html_url: `${addressesOf(context, repository).html}/wiki/${segment}`,
    sub_url: segment,
    last_commit: wikiCommitObject(lastCommit),
  }
}

/** Returns a commit of a wiki, with times in UTC, as Gitea does for wikis. */
export function wikiCommitObject({ id, author, committer, message }: Commit): WikiCommitObject {
  const inUtc = (person: Signature) => commitUser({ ...person, offsetMinutes: 0 })
  return { sha: id, author: inUtc(author), commiter: inUtc(committer), message }
}
