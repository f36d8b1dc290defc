/** Authorization of all requests: every surface calls this module, and no layer below it does. */

import { Failure, notFound } from '../../conf/failures.js'
import type { Awaitable } from '../../conf/lib/awaitable.js'
import type { PackageFormat } from '../../conf/package.js'
import { findOwner, type Owner } from '../../sql/accounts/owners.js'
import { findUser, type User } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'
import { mayCreateRepositories, organizationRole } from '../../sql/organizations/organizations.js'
import type { Runner } from '../../sql/runners/runners.js'
import { ANONYMOUS, type Identity } from './authenticate.js'
import {
  authorizeAdministrator,
  authorizeOrganization,
  authorizeTeam,
  type OrganizationGrant,
  type OrganizationNeed,
  type TeamGrant,
} from './authorize-accounts.js'
import {
  type ArtifactDownloadGrant,
  type ArtifactUploadGrant,
  authorizeArtifactDownload,
  authorizeArtifactUpload,
  authorizeTask,
  type TaskGrant,
} from './authorize-artifacts.js'
import { authorizePackages, type PackagesGrant } from './authorize-packages.js'
import {
  type AttachmentGrant,
  authorizeAttachment,
  authorizeRepository,
  type RepositoryGrant,
  type RepositoryNeed,
} from './authorize-repository.js'
import { callerWithin, type TokenTreatment } from './limits.js'
import { refusePublicOnly, signedIn } from './refusals.js'
import { type Scope, scopeAllows } from './scopes.js'

/** The access that a route requires; a route without one does not compile. */
export type Access =
  /** No requirement; credentials are not read, because probes must not depend on the database. */
  | { readonly kind: 'open' }
  /** No requirement: the answer differs only in what lists leave out for the caller. */
  | { readonly kind: 'anyone'; readonly isForBoundTokens?: true }
  /** Any signed-in user. */
  | {
      readonly kind: 'signed-in'
      /** True if limited tokens are permitted: the answer reveals nothing outside their limits. */
      readonly isForBoundTokens?: true
    }
  /** The account `{username}` itself or a site admin, signed in by password. */
  | { readonly kind: 'account' }
  /** A mode of access to the repository `{owner}/{repo}`. */
  | ({ readonly kind: 'repository' } & RepositoryNeed)
  /** Permission to read, write or own the packages of `{owner}`. */
  | {
      readonly kind: 'packages'
      readonly mode: 'read' | 'write' | 'owner'
      /** Format of a registry route. If absent, `{type}` and `{name}` may name a package. */
      readonly format?: PackageFormat
      /** True if anonymous callers are refused, also for public data. */
      readonly isSignedIn?: true
    }
  /** Read access to the repository of the attachment `{uuid}`. */
  | { readonly kind: 'attachment' }
  /** The right to create repositories in the organization `{org}`. */
  | { readonly kind: 'organization-repositories' }
  /** A role in the organization `{org}`; `visible` means that the caller can see it. */
  | {
      readonly kind: 'organization'
      readonly role: OrganizationNeed
      /** True if anonymous callers are refused, also for public data. */
      readonly isSignedIn?: true
    }
  /** Membership of the team `{id}`, or ownership of its organization; `owner`: the latter. */
  | {
      readonly kind: 'team'
      readonly role: 'member' | 'owner'
      /** True if the path names the team by `{org}` and `{team}`. */
      readonly isByName?: true
    }
  /** A registered runner of workflow jobs. */
  | { readonly kind: 'runner' }
  /** A running job of a workflow, with its runtime token. */
  | { readonly kind: 'task' }
  /** A signed address for the upload or the download of an artifact. */
  | { readonly kind: 'artifact-upload' }
  | { readonly kind: 'artifact-download' }
  /** A site administrator. */
  | {
      readonly kind: 'admin'
      /** True if other callers get `not_found`. */
      readonly isHidden?: true
    }

/** The rows that authorization has read, by kind of access, so that handlers need not read them. */
export interface Grants {
  readonly open: { readonly who: Identity }
  readonly anyone: { readonly who: Identity }
  readonly 'signed-in': { readonly who: Identity; readonly user: User }
  readonly account: {
    readonly who: Extract<Identity, { by: 'password' }>
    readonly user: User
    /** The account that the path names. */
    readonly account: User
  }
  readonly repository: RepositoryGrant
  readonly packages: PackagesGrant
  readonly attachment: AttachmentGrant
  readonly 'organization-repositories': {
    readonly who: Identity
    readonly user: User
    readonly organization: Owner
  }
  readonly organization: OrganizationGrant
  readonly team: TeamGrant
  readonly runner: { readonly who: Identity; readonly runner: Runner }
  readonly task: TaskGrant
  readonly 'artifact-upload': ArtifactUploadGrant
  readonly 'artifact-download': ArtifactDownloadGrant
  readonly admin: { readonly who: Identity; readonly user: User }
}

export type AccessKind = Access['kind']

export interface AuthorizationRequest<K extends AccessKind = AccessKind> {
  readonly who: Identity
  readonly access: Extract<Access, { kind: K }>
  /** Scopes, all of which a token needs. */
  readonly scopes: readonly Scope[]
  readonly params: Readonly<Record<string, string>>
  /**
   * True if an anonymous caller who cannot see a repository is asked for credentials, as git
   * expects, in place of `not_found`. Missing and private repositories look the same either way.
   */
  readonly challenges: boolean
  /** Size of the largest repository that anonymous clients may download; undefined for no limit. */
  readonly anonymousBytesMax: number | undefined
}

type Authorizer<K extends AccessKind> = (
  db: Database,
  question: AuthorizationRequest<K>,
) => Awaitable<Grants[K]>

const AUTHORIZERS: { readonly [K in AccessKind]: Authorizer<K> } = {
  open: (_db, { who }) => ({ who }),
  anyone: (_db, { who }) => ({ who }),
  'signed-in': authorizeSignedIn,
  account: authorizeAccount,
  repository: (db, question) => authorizeRepository(db, question.who, question),
  packages: (db, { who, access, params, challenges }) =>
    authorizePackages(db, who, { ...access, params, challenges }),
  attachment: (db, { who, params }) => authorizeAttachment(db, who, params['uuid'] ?? ''),
  'organization-repositories': authorizeOrganizationRepositories,
  organization: (db, { who, access, params }) =>
    authorizeOrganization(db, who, { ...access, name: params['org'] ?? '' }),
  team: (db, { who, access, params }) => authorizeTeam(db, who, { ...access, params }),
  runner: (_db, { who }) => authorizeRunner(who),
  task: (_db, { who }) => authorizeTask(who),
  'artifact-upload': (db, { who }) => authorizeArtifactUpload(db, who),
  'artifact-download': (db, { who }) => authorizeArtifactDownload(db, who),
  admin: (_db, { who, access }) => authorizeAdministrator(who, access),
}

/** Treatment of a token that is limited to some repositories or packages, by kind of access. */
const REACHES: {
  readonly [K in AccessKind]: (access: Extract<Access, { kind: K }>) => TokenTreatment
} = {
  open: () => 'as anybody',
  anyone: ({ isForBoundTokens }) => (isForBoundTokens ? 'judged' : 'as anybody'),
  'signed-in': ({ isForBoundTokens }) => (isForBoundTokens ? 'judged' : 'closed'),
  // Authorization of an account refuses every token.
  account: () => 'judged',
  repository: () => 'judged',
  packages: ({ mode }) => (mode === 'owner' ? 'closed' : 'judged'),
  attachment: () => 'judged',
  'organization-repositories': () => 'closed',
  organization: ({ role, isSignedIn }) =>
    role === 'visible' && !isSignedIn ? 'as anybody' : 'closed',
  team: () => 'closed',
  runner: () => 'closed',
  task: () => 'closed',
  'artifact-upload': () => 'closed',
  'artifact-download': () => 'closed',
  admin: () => 'closed',
}

/** True for each kind of access that is decided for jobs; for others, a job is anonymous. */
const IS_FOR_JOBS: { readonly [K in AccessKind]: boolean } = {
  open: false,
  anyone: false,
  'signed-in': false,
  account: false,
  repository: true,
  packages: true,
  attachment: true,
  'organization-repositories': false,
  organization: false,
  team: false,
  runner: false,
  task: false,
  'artifact-upload': false,
  'artifact-download': false,
  admin: false,
}

/**
 * Authorizes a request and returns the rows that it has read. Throws or rejects with
 * `sign_in_required`, `scope_missing`, `forbidden` or `not_found`.
 */
export function authorize<K extends AccessKind>(
  db: Database,
  question: AuthorizationRequest<K>,
): Awaitable<Grants[K]> {
  refuseScopes(question)
  const { access, scopes } = question
  const kind: K = access.kind
  const reach = (REACHES[kind] as (access: AuthorizationRequest<K>['access']) => TokenTreatment)(
    access,
  )
  const isHidden = question.who.kind === 'job' && !IS_FOR_JOBS[kind]
  const who = isHidden ? ANONYMOUS : callerWithin(question.who, { reach, scopes })
  return (AUTHORIZERS[kind] as Authorizer<K>)(
    db,
    who === question.who ? question : { ...question, who },
  )
}

function refuseScopes({ who, scopes }: Pick<AuthorizationRequest, 'who' | 'scopes'>): void {
  if (who.kind !== 'user' || who.scopes === undefined) return
  const held = who.scopes
  if (scopes.every((scope) => scopeAllows(held, scope))) return
  throw new Failure(
    'scope_missing',
    `token does not have at least one of required scope(s), required=[${scopes.join(' ')}], ` +
      `token scope=${held.join(',')}`,
  )
}

function authorizeSignedIn(
  _db: Database,
  { who, scopes }: AuthorizationRequest<'signed-in'>,
): Grants['signed-in'] {
  const { user } = signedIn(who)
  // Tokens for public data are refused by routes that list or create data of any visibility, and by
  // those that change the account: an SSH key added to it would give access to private data.
  if (scopes.some((scope) => scope !== 'read:user')) refusePublicOnly(who)
  return { who, user }
}

function authorizeRunner(who: Identity): Grants['runner'] {
  if (who.kind !== 'runner') throw new Failure('sign_in_required', 'Only runners may call this.')
  return { who, runner: who.runner }
}

async function authorizeAccount(
  db: Database,
  { who, params }: AuthorizationRequest<'account'>,
): Promise<Grants['account']> {
  const caller = signedIn(who)
  if (caller.by !== 'password') throw new Failure('sign_in_required', 'auth required')
  const { user } = caller
  const account = await findUser(db, params['username'] ?? '')
  if (account?.id !== user.id && !user.isAdmin) {
    throw new Failure('forbidden', 'doer should be the site admin or be same as the contextUser')
  }
  if (account === undefined) throw new Failure('not_found', 'user does not exist')
  return { who: caller, user, account }
}

async function authorizeOrganizationRepositories(
  db: Database,
  { who, params }: AuthorizationRequest<'organization-repositories'>,
): Promise<Grants['organization-repositories']> {
  const { user } = signedIn(who)
  refusePublicOnly(who)
  const organization = await findOwner(db, params['org'] ?? '')
  if (organization?.kind !== 'organization') throw notFound()
  if (!user.isAdmin && !(await mayCreateRepositories(db, organization.id, user.id))) {
    const role = await organizationRole(db, organization.id, user.id)
    if (organization.visibility === 'private' && role === 'none') {
      throw notFound()
    }
    throw new Failure(
      'forbidden',
      'Given user is not allowed to create repository in organization.',
    )
  }
  return { who, user, organization }
}
