/** Commits as this API shows them, with the accounts that their e-mail addresses belong to. */

import type { Commit, Signature } from '../../../cgi/objects/commit-object.js'
import type { User } from '../../../sql/accounts/users.js'
import { findUsersByEmail } from '../../../sql/accounts/users-by-email.js'
import { foldCase } from '../../../sql/database/bindings.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import {
  NOT_SIGNED,
  type SignedObject,
  signedCommit,
  type Verification,
  verifySignatures,
} from '../../actions/code/verify-signatures.js'
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

/** Repository of the commits, and their viewer; a RepositoryGrant is a CommitView. */
export interface CommitView {
  readonly repository: Repository
  readonly user: User | undefined
}

/** Details that are not part of the commit object. */
export interface CommitDetails {
  readonly files?: CommitObject['files'] | undefined
  readonly stats?: CommitObject['stats'] | undefined
  /** True if the verification of the signature is omitted. */
  readonly isUnverified?: boolean
}

/** Returns the Commit objects in the given order. All accounts are read with one query. */
export async function commitObjects(
  context: Context,
  view: CommitView,
  commits: readonly Commit[],
  detailsOf: (commit: Commit) => CommitDetails = () => ({}),
): Promise<CommitObject[]> {
  const users = await usersOf(context, view, commits)
  const checked = commits.filter((commit) => !detailsOf(commit).isUnverified)
  const verifications = await verificationsOf(context, checked, users)
  const { api, html } = addressesOf(context, view.repository)
  const accountOf = ({ email }: Signature) => {
    const user = users.get(foldCase(email))
    return user === undefined ? null : userObject(context, user, view.user)
  }
  return commits.map((commit) => {
    const { files = null, stats = null } = detailsOf(commit)
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
        verification: verifications.get(commit) ?? null,
      },
      author: accountOf(commit.author),
      committer: accountOf(commit.committer),
      parents: parentsOf(api, commit),
      files,
      stats,
    }
  })
}

/** Returns the PayloadCommit objects in the given order. */
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
  const verifications = await verificationsOf(context, commits, users)
  return commits.map((commit) => ({
    id: commit.id,
    message: commit.message,
    url: `${html}/commit/${commit.id}`,
    author: person(commit.author),
    committer: person(commit.committer),
    verification: verifications.get(commit) ?? null,
    timestamp: signatureTime(commit.author),
    added: null,
    removed: null,
    modified: null,
  }))
}

/** Returns the FileCommitResponse of a new commit. */
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

/** Returns name, e-mail address and time of an author or committer, as in the commit. */
export function commitUser(signature: Signature): CommitUserObject {
  const { name, email } = signature
  return { name, email, date: signatureTime(signature) }
}

/** Returns the verification of a commit for a viewer. */
export async function commitVerification(
  context: Context,
  view: CommitView,
  commit: Commit,
): Promise<VerificationObject> {
  const users = await usersOf(context, view, [commit])
  const [verification] = await verifySignatures(context, [signedCommit(commit)], users)
  return verificationObject(signedCommit(commit), verification)
}

async function verificationsOf(
  context: Context,
  commits: readonly Commit[],
  users: ReadonlyMap<string, User>,
): Promise<ReadonlyMap<Commit, VerificationObject>> {
  const verifications = await verifySignatures(context, commits.map(signedCommit), users)
  return new Map(
    commits.map((commit, at) => [
      commit,
      verificationObject(signedCommit(commit), verifications[at]),
    ]),
  )
}

/** Returns the verification of a signed object. */
export function verificationObject(
  { email, signature }: SignedObject,
  { isVerified, reason, signer }: Verification = NOT_SIGNED,
): VerificationObject {
  return {
    verified: isVerified,
    reason,
    signature: signature?.armored ?? '',
    signer: signer ? { name: signer.fullName || signer.name, email, username: signer.name } : null,
    payload: signature?.payload.toString() ?? '',
  }
}

/** Latest time that RFC 3339 can express at any UTC offset. */
const TIME_MS_MAX = Date.parse('9999-12-31T00:00:00Z')

/** Formats a time (RFC 3339) at the UTC offset of the signature. */
export function signatureTime({ atMs, offsetMinutes }: Signature): string {
  // Git accepts any offset; RFC 3339 requires less than 24 hours.
  const minutes = Math.abs(offsetMinutes) < 1_440 ? offsetMinutes : 0
  const local = new Date(Math.min(atMs, TIME_MS_MAX) + minutes * 60_000).toISOString().slice(0, 19)
  if (minutes === 0) return `${local}Z`
  const two = (number: number) => String(number).padStart(2, '0')
  const east = Math.abs(minutes)
  return `${local}${minutes < 0 ? '-' : '+'}${two(Math.floor(east / 60))}:${two(east % 60)}`
}

/** Returns the URLs of a repository: in the API, and of its web page. */
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

/** Returns the API's reference to a commit. */
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

async function usersOf(
  context: Context,
  { user: viewer }: CommitView,
  commits: readonly Commit[],
): Promise<ReadonlyMap<string, User>> {
  const addresses = commits.flatMap(({ author, committer }) => [author.email, committer.email])
  return await visibleUsers(context, viewer, addresses)
}

/**
 * Returns the accounts by e-mail address in lower case, without those that the viewer cannot see.
 */
export async function visibleUsers(
  { db }: Context,
  viewer: User | undefined,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, User>> {
  const users = await findUsersByEmail(db, addresses)
  return new Map([...users].filter(([, user]) => isVisible(user, viewer)))
}
