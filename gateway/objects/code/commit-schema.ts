/** Schemas of commits in this API: in lists, in branches, and in replies to file changes. */

import { type Static, Type } from 'typebox'
import { USER_OBJECT } from '../accounts/user-object.js'
import { nullable, TIME } from '../schema.js'

/** Author or committer, as in the commit. */
export const COMMIT_USER = Type.Object(
  { name: Type.String(), email: Type.String({ format: 'email' }), date: Type.String() },
  { $id: 'CommitUser' },
)

export const COMMIT_META = Type.Object(
  { url: Type.String(), sha: Type.String(), created: TIME },
  { $id: 'CommitMeta' },
)

/** Author or committer, with the account that has the e-mail address. */
export const PAYLOAD_USER = Type.Object(
  { name: Type.String(), email: Type.String({ format: 'email' }), username: Type.String() },
  { $id: 'PayloadUser' },
)

export const VERIFICATION = Type.Object(
  {
    verified: Type.Boolean(),
    reason: Type.String(),
    signature: Type.String(),
    signer: nullable(PAYLOAD_USER),
    payload: Type.String(),
  },
  { $id: 'PayloadCommitVerification' },
)

const REPO_COMMIT = Type.Object(
  {
    url: Type.String(),
    author: COMMIT_USER,
    committer: COMMIT_USER,
    message: Type.String(),
    tree: COMMIT_META,
    verification: nullable(VERIFICATION),
  },
  { $id: 'RepoCommit' },
)

const COMMIT_STATS = Type.Object(
  { total: Type.Integer(), additions: Type.Integer(), deletions: Type.Integer() },
  { $id: 'CommitStats' },
)

const COMMIT_AFFECTED_FILES = Type.Object(
  { filename: Type.String(), status: Type.String() },
  { $id: 'CommitAffectedFiles' },
)

export const COMMIT = Type.Object(
  {
    url: Type.String(),
    sha: Type.String(),
    created: TIME,
    html_url: Type.String(),
    commit: REPO_COMMIT,
    author: nullable(USER_OBJECT),
    committer: nullable(USER_OBJECT),
    parents: Type.Array(COMMIT_META),
    files: nullable(Type.Array(COMMIT_AFFECTED_FILES)),
    stats: nullable(COMMIT_STATS),
  },
  { $id: 'Commit' },
)

/** A commit in branches and in webhook events. */
export const PAYLOAD_COMMIT = Type.Object(
  {
    id: Type.String(),
    message: Type.String(),
    url: Type.String(),
    author: PAYLOAD_USER,
    committer: PAYLOAD_USER,
    verification: nullable(VERIFICATION),
    timestamp: TIME,
    added: nullable(Type.Array(Type.String())),
    removed: nullable(Type.Array(Type.String())),
    modified: nullable(Type.Array(Type.String())),
  },
  { $id: 'PayloadCommit' },
)

/** The commit that a file change created. */
export const FILE_COMMIT_RESPONSE = Type.Object(
  {
    url: Type.String(),
    sha: Type.String(),
    created: TIME,
    html_url: Type.String(),
    author: COMMIT_USER,
    committer: COMMIT_USER,
    parents: Type.Array(COMMIT_META),
    message: Type.String(),
    tree: COMMIT_META,
  },
  { $id: 'FileCommitResponse' },
)

export type CommitUserObject = Static<typeof COMMIT_USER>
export type CommitMetaObject = Static<typeof COMMIT_META>
export type VerificationObject = Static<typeof VERIFICATION>
export type CommitObject = Static<typeof COMMIT>
export type PayloadCommitObject = Static<typeof PAYLOAD_COMMIT>
export type FileCommitObject = Static<typeof FILE_COMMIT_RESPONSE>
