/** Commits as this API shows them, with the accounts that their addresses belong to. */

import type { Commit, Signature } from '../../../cgi/objects/commit-object.js'
import type { User } from '../../../sql/accounts/users.js'
import { findUsersByEmail } from '../../../sql/accounts/users-by-email.js'
import { foldCase } from '../../../sql/database/bindings.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { isVisible } from '../../auth/visible-owner.js'
import type { Context } from '../../request/context.js'
import { userObject } from '../accounts/user-object.js'
import { ZERO_TIME } from '../times.js'
import type {
  CommitMetaObject,
  CommitObject,
  CommitUserObject,
  FileCommitObject,
  PayloadCommitObject,
  VerificationObject,
} from './commit-schema.js'

/** Of which repository the commits are, and who looks; a grant of the gate is one. */
export interface CommitView {
  readonly repository: Repository
  readonly user: User | undefined
}

/** What is said of a commit beyond what it says itself. */
export interface CommitDetails {
  readonly files?: CommitObject['files'] | undefined
  readonly stats?: CommitObject['stats'] | undefined
  /** Left out where the caller does not want to know of signatures. */
  readonly isUnverified?: boolean
}

/** The Commit of each, in their order; one question to the database for all people. */
export async function commitObjects(
  context: Context,
  view: CommitView,
  commits: readonly Commit[],
  detailsOf: (commit: Commit) => CommitDetails = () => ({}),
): Promise<CommitObject[]> {
  const users = await usersOf(context, view, commits)
  const { api, html } = addressesOf(context, view.repository)
  const accountOf = ({ email }: Signature) => {
    const user = users.get(foldCase(email))
    return user === undefined ? null : userObject(context, user, view.user)
  }
  return commits.map((commit) => {
    const { files = null, stats = null, isUnverified = false } = detailsOf(commit)
    const meta = metaOf(api, commit)
    return {
      ...meta,
      html_url: `${html}/commit/${commit.id}`,
      commit: {
        url: meta.url,
        author: commitUser(commit.author),
        committer: commitUser(commit.committer),
        message: commit.message,
        tree: treeOf(api, commit),
        verification: isUnverified ? null : verificationOf(commit.signature),
      },
      author: accountOf(commit.author),
      committer: accountOf(commit.committer),
      parents: parentsOf(api, commit),
      files,
      stats,
    }
  })
}

/** The PayloadCommit of each, in their order. */
export async function payloadCommits(
  context: Context,
  view: CommitView,
  commits: readonly Commit[],
): Promise<PayloadCommitObject[]> {
  const users = await usersOf(context, view, commits)
  const { html } = addressesOf(context, view.repository)
  const person = ({ name, email }: Signature) => {
    return { name, email, username: users.get(foldCase(email))?.name ?? '' }
  }
  return commits.map((commit) => ({
    id: commit.id,
    message: commit.message,
    url: `${html}/commit/${commit.id}`,
    author: person(commit.author),
    committer: person(commit.committer),
    verification: verificationOf(commit.signature),
    timestamp: signatureTime(commit.author),
    added: null,
    removed: null,
    modified: null,
  }))
}

/** The FileCommitResponse of a commit that was just made. */
export function fileCommitObject(
  context: Context,
  repository: Repository,
  commit: Commit,
): FileCommitObject {
  const { api, html } = addressesOf(context, repository)
  return {
    ...metaOf(api, commit),
    html_url: `${html}/commit/${commit.id}`,
    author: commitUser(commit.author),
    committer: commitUser(commit.committer),
    parents: parentsOf(api, commit),
    message: commit.message,
    tree: treeOf(api, commit),
  }
}

/** Who and when, in the words of the commit. */
export function commitUser(signature: Signature): CommitUserObject {
  const { name, email } = signature
  return { name, email, date: signatureTime(signature) }
}

/** What is said of a signature: this server has no keys to check one with. */
export function verificationOf(signature: Commit['signature']): VerificationObject {
  const isSigned = signature !== undefined
  return {
    verified: false,
    reason: isSigned ? 'gpg.error.no_gpg_keys_found' : 'gpg.error.not_signed_commit',
    signature: signature?.armored ?? '',
    signer: null,
    payload: signature?.payload ?? '',
  }
}

/** The last instant that RFC 3339 has a text for. */
const TIME_MS_MAX = Date.parse('9999-12-31T00:00:00Z')

/** RFC 3339, by the clock of whoever made it. */
export function signatureTime({ atMs, offsetMinutes }: Signature): string {
  // Git takes any offset; RFC 3339 ends at a day.
  const minutes = Math.abs(offsetMinutes) < 1_440 ? offsetMinutes : 0
  const local = new Date(Math.min(atMs, TIME_MS_MAX) + minutes * 60_000).toISOString().slice(0, 19)
  if (minutes === 0) return `${local}Z`
  const two = (number: number) => String(number).padStart(2, '0')
  const east = Math.abs(minutes)
  return `${local}${minutes < 0 ? '-' : '+'}${two(Math.floor(east / 60))}:${two(east % 60)}`
}

/** Where a repository is, in the API and for people. */
export function addressesOf(
  { settings }: Context,
  { owner, name }: Repository,
): { readonly api: string; readonly html: string } {
  const { baseUrl } = settings.http
  return {
    api: `${baseUrl}/api/v1/repos/${owner.name}/${name}`,
    html: `${baseUrl}/${owner.name}/${name}`,
  }
}

/** Where a commit is in the API, by its id. */
export function commitMeta(api: string, sha: string, created: string): CommitMetaObject {
  return { url: `${api}/git/commits/${sha}`, sha, created }
}

function metaOf(api: string, { id, committer }: Commit): CommitMetaObject {
  return commitMeta(api, id, signatureTime(committer))
}

function treeOf(api: string, { tree, committer }: Commit): CommitMetaObject {
  return { url: `${api}/git/trees/${tree}`, sha: tree, created: signatureTime(committer) }
}

function parentsOf(api: string, { parents }: Commit): CommitMetaObject[] {
  return parents.map((parent) => commitMeta(api, parent, ZERO_TIME))
}

/** By the address in lower case; those whom the caller may not know of are left out. */
async function usersOf(
  context: Context,
  { user: viewer }: CommitView,
  commits: readonly Commit[],
): Promise<ReadonlyMap<string, User>> {
  const addresses = commits.flatMap(({ author, committer }) => [author.email, committer.email])
  const users = await findUsersByEmail(context.db, addresses)
  return new Map([...users].filter(([, user]) => isVisible(user, viewer)))
}
