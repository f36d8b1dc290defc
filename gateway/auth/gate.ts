/** The one gate, which says whether a caller may: every door asks here, and nothing behind it. */

import type { Awaitable } from '../../conf/awaitable.js'
import { Failure } from '../../conf/failures.js'
import type { PackageFormat } from '../../conf/package.js'
import {
  type AccessMode,
  accessToRepositories,
  accessToRepository,
  atLeast,
  atMost,
} from '../../sql/access.js'
import { type Attachment, findAttachmentByUuid } from '../../sql/attachments.js'
import type { Database } from '../../sql/database.js'
import { deployKeyAccess } from '../../sql/deploy-keys.js'
import { mayCreateRepositories, organizationRole } from '../../sql/organizations.js'
import {
  findRedirect,
  findRepository,
  findRepositoryById,
  type Repository,
} from '../../sql/repositories.js'
import { findOwner, findUser, type Owner, type User } from '../../sql/users.js'
import { admitToPackages, type PackagesGrant } from './admit-packages.js'
import {
  admitAdmin,
  admitToOrganization,
  admitToTeam,
  type OrganizationGrant,
  type OrganizationNeed,
  type TeamGrant,
} from './admit-people.js'
import type { Identity } from './identify.js'
import { callerAt, callerWithin, isLimited, limited, type Reach } from './limits.js'
import {
  holdsPublicOnly,
  notFound,
  readId,
  refuseAnonymous,
  refusePublicOnly,
  signedIn,
} from './refusals.js'
import { type Scope, scopeAllows } from './scopes.js'

/** What a route needs to be let through; a route without one does not compile. */
export type Access =
  /** Nothing, and credentials are not even read: probes must not depend on the database. */
  | { readonly kind: 'open' }
  /** Nothing: the answer is the same for everyone, but for what a list leaves out. */
  | { readonly kind: 'anyone'; readonly isForBoundTokens?: true }
  /** A signed-in user, whoever it is. */
  | {
      readonly kind: 'signed-in'
      /** A token that opens some repositories alone may know the answer, or it keeps to them. */
      readonly isForBoundTokens?: true
    }
  /** The account `{username}` itself or a site admin, signed in by password. */
  | { readonly kind: 'account' }
  /** A mode of access to the repository `{owner}/{repo}`. */
  | {
      readonly kind: 'repository'
      readonly mode: Exclude<AccessMode, 'none'>
      /** The path names it by `{id}` alone. */
      readonly isById?: true
      /** The path names it by `{template_owner}/{template_repo}`. */
      readonly isTemplate?: true
      /** Strangers are refused, whatever they might see. */
      readonly isSignedIn?: true
      /** What Git keeps of it would change, which of a mirror only its source may do. */
      readonly changesGit?: true
      /** All of it can be had so, and strangers are not given all of a large one. */
      readonly isDownload?: true
    }
  /** What the caller may do with the packages of `{owner}`. */
  | {
      readonly kind: 'packages'
      readonly mode: 'read' | 'write'
      /** Of a registry; else the path names the package by `{type}` and `{name}`, if any. */
      readonly format?: PackageFormat
      /** Strangers are refused, whatever they might see. */
      readonly isSignedIn?: true
    }
  /** What the caller may do with the repository of the attachment `{uuid}`. */
  | { readonly kind: 'attachment' }
  /** The right to create repositories in the organization `{org}`. */
  | { readonly kind: 'organization-repositories' }
  /** A role in the organization `{org}`; `visible`: to know of it. */
  | {
      readonly kind: 'organization'
      readonly role: OrganizationNeed
      /** Strangers are refused, whatever they might see. */
      readonly isSignedIn?: true
    }
  /** To be in the team `{id}`, or to own its organization, which alone is `owner`. */
  | {
      readonly kind: 'team'
      readonly role: 'member' | 'owner'
      /** The path names it by `{org}` and `{team}`. */
      readonly isByName?: true
    }
  /** To run the site. */
  | { readonly kind: 'admin' }

/** What the gate found out on the way, by the access asked for, so that no handler looks again. */
export interface Grants {
  readonly open: { readonly who: Identity }
  readonly anyone: { readonly who: Identity }
  readonly 'signed-in': { readonly who: Identity; readonly user: User }
  readonly account: {
    readonly who: Extract<Identity, { by: 'password' }>
    readonly user: User
    /** Whom the path names. */
    readonly account: User
  }
  readonly repository: {
    readonly who: Identity
    /** Absent for an anonymous caller and for a deploy key. */
    readonly user: User | undefined
    readonly repository: Repository
    readonly mode: AccessMode
    /** The path names a repository that has moved; `repository` is where it is now. */
    readonly hasMoved: boolean
  }
  readonly packages: PackagesGrant
  readonly attachment: {
    readonly who: Identity
    readonly repository: Repository
    readonly attachment: Attachment
  }
  readonly 'organization-repositories': {
    readonly who: Identity
    readonly user: User
    readonly organization: Owner
  }
  readonly organization: OrganizationGrant
  readonly team: TeamGrant
  readonly admin: { readonly who: Identity; readonly user: User }
}

export type AccessKind = Access['kind']

export interface Question<K extends AccessKind = AccessKind> {
  readonly who: Identity
  readonly access: Extract<Access, { kind: K }>
  /** A token needs all of them. */
  readonly scopes: readonly Scope[]
  readonly params: Readonly<Record<string, string>>
  /**
   * Whether a stranger who may not see a repository is asked for credentials, as git expects,
   * instead of being told that there is none. Missing and private ones look the same either way.
   */
  readonly challenges: boolean
  /** A larger repository is for signed-in users to download; none: any is for everybody. */
  readonly anonymousBytesMax: number | undefined
}

type Judge<K extends AccessKind> = (db: Database, question: Question<K>) => Awaitable<Grants[K]>

const JUDGES: { readonly [K in AccessKind]: Judge<K> } = {
  open: (_db, { who }) => ({ who }),
  anyone: (_db, { who }) => ({ who }),
  'signed-in': admitSignedIn,
  account: admitAccount,
  repository: admitRepository,
  packages: (db, { who, access, params, challenges }) =>
    admitToPackages(db, who, { ...access, params, challenges }),
  attachment: admitAttachment,
  'organization-repositories': admitOrganizationRepositories,
  organization: (db, { who, access, params }) =>
    admitToOrganization(db, who, { ...access, name: params['org'] ?? '' }),
  team: (db, { who, access, params }) => admitToTeam(db, who, { ...access, params }),
  admin: (_db, { who }) => admitAdmin(who),
}

/** What each kind is to a token that opens some repositories or packages alone. */
const REACHES: {
  readonly [K in AccessKind]: (access: Extract<Access, { kind: K }>) => Reach
} = {
  open: () => 'as anybody',
  anyone: ({ isForBoundTokens }) => (isForBoundTokens ? 'judged' : 'as anybody'),
  'signed-in': ({ isForBoundTokens }) => (isForBoundTokens ? 'judged' : 'closed'),
  // Whatever a token opens: it is closed to each.
  account: () => 'judged',
  repository: () => 'judged',
  packages: () => 'judged',
  attachment: () => 'judged',
  'organization-repositories': () => 'closed',
  organization: ({ role, isSignedIn }) =>
    role === 'visible' && !isSignedIn ? 'as anybody' : 'closed',
  team: () => 'closed',
  admin: () => 'closed',
}

/**
 * Lets the caller through with what it learnt, or throws or rejects: `sign_in_required`,
 * `scope_missing`, `forbidden`, `not_found`.
 */
export function admit<K extends AccessKind>(
  db: Database,
  question: Question<K>,
): Awaitable<Grants[K]> {
  refuseScopes(question)
  const { access, scopes } = question
  const kind: K = access.kind
  const reach = (REACHES[kind] as (access: Question<K>['access']) => Reach)(access)
  const who = callerWithin(question.who, { reach, scopes })
  return (JUDGES[kind] as Judge<K>)(db, who === question.who ? question : { ...question, who })
}

function refuseScopes({ who, scopes }: Pick<Question, 'who' | 'scopes'>): void {
  if (who.kind !== 'user' || who.scopes === undefined) return
  const held = who.scopes
  if (scopes.every((scope) => scopeAllows(held, scope))) return
  throw new Failure(
    'scope_missing',
    `token does not have at least one of required scope(s), required=[${scopes.join(' ')}], ` +
      `token scope=${held.join(',')}`,
  )
}

function admitSignedIn(_db: Database, { who, scopes }: Question<'signed-in'>): Grants['signed-in'] {
  const { user } = signedIn(who)
  // What lists or makes things of any visibility is no place for a token that sees public ones, and
  // nor is what changes the account: an SSH key added to it would open the private ones.
  if (scopes.some((scope) => scope !== 'read:user')) refusePublicOnly(who)
  return { who, user }
}

async function admitAccount(
  db: Database,
  { who, params }: Question<'account'>,
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

async function admitRepository(
  db: Database,
  { who, access, params, challenges, anonymousBytesMax }: Question<'repository'>,
): Promise<Grants['repository']> {
  const isForStrangers = access.mode === 'read' && !access.isSignedIn
  if (!isForStrangers) refuseAnonymous(who)
  const { repository, hasMoved } = await namedRepository(db, params, access)
  const mode = repository === undefined ? 'none' : await accessOf(db, who, repository)
  if (repository === undefined || mode === 'none') {
    if (challenges) refuseAnonymous(who)
    throw notFound()
  }
  const caller = callerAt(who, repository.id)
  if (caller !== who && !isForStrangers) throw limited()
  refusePublicOnly(who, repository.owner, repository.isPrivate)
  const isLarge = repository.sizeKib * 1_024 > (anonymousBytesMax ?? Number.POSITIVE_INFINITY)
  if (access.isDownload && isLarge) refuseAnonymous(who, LARGE_MESSAGE)
  if (!atLeast(mode, access.mode)) {
    if (isLimited(who)) throw limited()
    const isKey = who.kind === 'deploy-key'
    throw new Failure('forbidden', isKey ? READ_ONLY_MESSAGE : FORBIDDEN_MESSAGES[access.mode])
  }
  if (access.changesGit && repository.source?.mirror !== undefined) {
    throw new Failure('mirrored', MIRROR_MESSAGE)
  }
  const user = caller.kind === 'user' ? caller.user : undefined
  return { who: caller, user, repository, mode, hasMoved }
}

const LARGE_MESSAGE =
  'This repository is large. To clone it or to fetch from it, sign in, for example with a token.'

const MIRROR_MESSAGE = 'Git Repository is a mirror.'

/** The repository that a path names, by its present name, by one that it had, or by its id. */
async function namedRepository(
  db: Database,
  params: Question['params'],
  { isById, isTemplate }: Question<'repository'>['access'],
): Promise<{ readonly repository: Repository | undefined; readonly hasMoved: boolean }> {
  if (isById) {
    const id = readId(params['id'] ?? '')
    const repository = id === undefined ? undefined : await findRepositoryById(db, id)
    return { repository, hasMoved: false }
  }
  const owner = params[isTemplate ? 'template_owner' : 'owner'] ?? ''
  // Git's own suffix: no repository may have a name that ends so.
  const name = (params[isTemplate ? 'template_repo' : 'repo'] ?? '').replace(/\.git$/i, '')
  const found = await findRepository(db, owner, name)
  const repository = found ?? (await findRedirect(db, owner, name))
  return { repository, hasMoved: found === undefined }
}

/** A deploy key opens what it was added to, and not even what everyone else may read. */
async function accessOf(db: Database, who: Identity, repository: Repository): Promise<AccessMode> {
  if (who.kind === 'deploy-key') return await deployKeyAccess(db, who.keyId, repository.id)
  const caller = callerAt(who, repository.id)
  const user = caller.kind === 'user' ? caller.user : undefined
  return withinLimits(who, await accessToRepository(db, user, repository))
}

/** A limited token works in a repository, and does not run it. */
function withinLimits(who: Identity, mode: AccessMode): AccessMode {
  return isLimited(who) ? atMost(mode, 'write') : mode
}

/** What a caller may do with each of the repositories of a list, by their ids. */
export async function accessToListed(
  db: Database,
  who: Identity,
  repositories: readonly Repository[],
): Promise<ReadonlyMap<number, AccessMode>> {
  const user = who.kind === 'user' ? who.user : undefined
  const [own, others] = [true, false].map((isOwn) =>
    repositories.filter(({ id }) => (callerAt(who, id) === who) === isOwn),
  )
  return new Map(
    [
      ...(await accessToRepositories(db, user, own ?? [])),
      ...(await accessToRepositories(db, undefined, others ?? [])),
    ].map(([id, mode]) => [id, withinLimits(who, mode)]),
  )
}

const READ_ONLY_MESSAGE = 'this deploy key may only read the repository'

const FORBIDDEN_MESSAGES: Readonly<Record<Exclude<AccessMode, 'none'>, string>> = {
  read: 'user should have specific read permission or be a repo admin or a site admin',
  write: 'user should have a permission to write to a repo',
  admin: 'user should be an owner or a collaborator with admin write of a repository',
  owner: 'user should be the owner of the repo',
}

/**
 * What a caller may do with a repository to which something leads that was let through already;
 * `none` where there seems to be no repository.
 */
export async function accessToLinked(
  db: Database,
  who: Identity,
  repository: Repository,
): Promise<AccessMode> {
  const isPublic = repository.owner.visibility === 'public' && !repository.isPrivate
  return !isPublic && holdsPublicOnly(who) ? 'none' : await accessOf(db, who, repository)
}

/** What belongs to a draft is for those who write: to anybody else it is not there. */
async function admitAttachment(
  db: Database,
  { who, params }: Question<'attachment'>,
): Promise<Grants['attachment']> {
  const attachment = await findAttachmentByUuid(db, params['uuid'] ?? '')
  const repository = attachment && (await findRepositoryById(db, attachment.repositoryId))
  const mode = repository === undefined ? 'none' : await accessOf(db, who, repository)
  const isSeen = atLeast(mode, attachment?.isOfDraft ? 'write' : 'read')
  if (attachment === undefined || repository === undefined || !isSeen) {
    throw notFound()
  }
  refusePublicOnly(who, repository.owner, repository.isPrivate)
  return { who: callerAt(who, repository.id), repository, attachment }
}

async function admitOrganizationRepositories(
  db: Database,
  { who, params }: Question<'organization-repositories'>,
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
