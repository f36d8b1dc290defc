/** The one gate, which says whether a caller may: every door asks here, and nothing behind it. */

import type { Awaitable } from '../../conf/awaitable.js'
import { Failure } from '../../conf/failures.js'
import { type AccessMode, accessToPackages, accessToRepository, atLeast } from '../../sql/access.js'
import type { Database } from '../../sql/database.js'
import { deployKeyAccess } from '../../sql/deploy-keys.js'
import { mayCreateRepositories, organizationRole } from '../../sql/organizations.js'
import { findRedirect, findRepository, type Repository } from '../../sql/repositories.js'
import { findOwner, findUser, type Owner, type User } from '../../sql/users.js'
import { type Identity, SIGN_IN_MESSAGE } from './identify.js'
import { isPublicOnly, type Scope, scopeAllows } from './scopes.js'

/** What a route needs to be let through; a route without one does not compile. */
export type Access =
  /** Nothing, and credentials are not even read: probes must not depend on the database. */
  | { readonly kind: 'open' }
  /** Nothing: the answer is the same for everyone. */
  | { readonly kind: 'anyone' }
  /** A signed-in user, whoever it is. */
  | { readonly kind: 'signed-in' }
  /** The account `{username}` itself or a site admin, signed in by password. */
  | { readonly kind: 'account' }
  /** A mode of access to the repository `{owner}/{repo}`. */
  | {
      readonly kind: 'repository'
      readonly mode: Exclude<AccessMode, 'none'>
      /** All of it can be had so, and strangers are not given all of a large one. */
      readonly isDownload?: true
    }
  /** What the caller may do with the packages of `{owner}`. */
  | {
      readonly kind: 'packages'
      readonly mode: 'read' | 'write'
      /** Strangers are refused, whatever they might see. */
      readonly isSignedIn?: true
    }
  /** The right to create repositories in the organization `{org}`. */
  | { readonly kind: 'organization-repositories' }

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
  readonly packages: {
    readonly who: Identity
    /** Absent for an anonymous caller. */
    readonly user: User | undefined
    readonly owner: Owner
  }
  readonly 'organization-repositories': {
    readonly who: Identity
    readonly user: User
    readonly organization: Owner
  }
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
  packages: admitPackages,
  'organization-repositories': admitOrganization,
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
  const kind: K = question.access.kind
  return (JUDGES[kind] as Judge<K>)(db, question)
}

/** The caller as a user. Throws `sign_in_required` for anyone else. */
function signedIn(who: Identity): Extract<Identity, { kind: 'user' }> {
  if (who.kind !== 'user') throw new Failure('sign_in_required', SIGN_IN_MESSAGE)
  return who
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
  if (access.mode !== 'read') refuseAnonymous(who)
  const user = who.kind === 'user' ? who.user : undefined
  const owner = params['owner'] ?? ''
  // Git's own suffix: no repository may have a name that ends so.
  const name = (params['repo'] ?? '').replace(/\.git$/i, '')
  const found = await findRepository(db, owner, name)
  const repository = found ?? (await findRedirect(db, owner, name))
  const mode = repository === undefined ? 'none' : await accessOf(db, who, repository)
  if (repository === undefined || mode === 'none') {
    if (challenges) refuseAnonymous(who)
    throw new Failure('not_found', NOT_FOUND_MESSAGE)
  }
  refusePublicOnly(who, repository.owner, repository.isPrivate)
  const isLarge = repository.sizeKib * 1_024 > (anonymousBytesMax ?? Number.POSITIVE_INFINITY)
  if (access.isDownload && isLarge) refuseAnonymous(who, LARGE_MESSAGE)
  if (!atLeast(mode, access.mode)) {
    const isKey = who.kind === 'deploy-key'
    throw new Failure('forbidden', isKey ? READ_ONLY_MESSAGE : FORBIDDEN_MESSAGES[access.mode])
  }
  return { who, user, repository, mode, hasMoved: found === undefined }
}

function refuseAnonymous(who: Identity, message = SIGN_IN_MESSAGE): void {
  if (who.kind === 'anonymous') throw new Failure('sign_in_required', message)
}

const LARGE_MESSAGE =
  'This repository is large. To clone it or to fetch from it, sign in, for example with a token.'

/** A deploy key opens what it was added to, and not even what everyone else may read. */
async function accessOf(db: Database, who: Identity, repository: Repository): Promise<AccessMode> {
  if (who.kind === 'deploy-key') return await deployKeyAccess(db, who.keyId, repository.id)
  return await accessToRepository(db, who.kind === 'user' ? who.user : undefined, repository)
}

const NOT_FOUND_MESSAGE = "The target couldn't be found."

const READ_ONLY_MESSAGE = 'this deploy key may only read the repository'

const FORBIDDEN_MESSAGES: Readonly<Record<Exclude<AccessMode, 'none'>, string>> = {
  read: 'user should have specific read permission or be a repo admin or a site admin',
  write: 'user should have a permission to write to a repo',
  admin: 'user should be an owner or a collaborator with admin write of a repository',
  owner: 'user should be the owner of the repo',
}

/** A token for public things alone opens nothing of an owner whom not everybody sees. */
function refusePublicOnly(who: Identity, owner?: Owner, isPrivate = false): void {
  if (owner?.visibility === 'public' && !isPrivate) return
  if (holdsPublicOnly(who)) throw new Failure('forbidden', 'token scope is limited to public repos')
}

function holdsPublicOnly(who: Identity): boolean {
  return who.kind === 'user' && who.scopes !== undefined && isPublicOnly(who.scopes)
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

/**
 * A stranger hears the same of an owner who is private and of one who is not there, and so does
 * whoever is signed in. Who may read and not write is told so as clients of registries expect it.
 */
async function admitPackages(
  db: Database,
  { who, access, params, challenges }: Question<'packages'>,
): Promise<Grants['packages']> {
  if (access.mode === 'write' || access.isSignedIn) refuseAnonymous(who)
  const user = who.kind === 'user' ? who.user : undefined
  const owner = await findOwner(db, params['owner'] ?? '')
  const mode =
    owner === undefined || who.kind === 'deploy-key'
      ? 'none'
      : await accessToPackages(db, user, owner)
  if (owner === undefined || mode === 'none') {
    if (challenges) refuseAnonymous(who)
    throw new Failure('not_found', NOT_FOUND_MESSAGE)
  }
  refusePublicOnly(who, owner)
  if (!atLeast(mode, access.mode)) {
    const message = `You may not change the packages of ${owner.name}.`
    throw new Failure(challenges ? 'sign_in_required' : 'forbidden', message)
  }
  return { who, user, owner }
}

async function admitOrganization(
  db: Database,
  { who, params }: Question<'organization-repositories'>,
): Promise<Grants['organization-repositories']> {
  const { user } = signedIn(who)
  refusePublicOnly(who)
  const organization = await findOwner(db, params['org'] ?? '')
  if (organization?.kind !== 'organization') throw new Failure('not_found', NOT_FOUND_MESSAGE)
  if (!user.isAdmin && !(await mayCreateRepositories(db, organization.id, user.id))) {
    const role = await organizationRole(db, organization.id, user.id)
    if (organization.visibility === 'private' && role === 'none') {
      throw new Failure('not_found', NOT_FOUND_MESSAGE)
    }
    throw new Failure(
      'forbidden',
      'Given user is not allowed to create repository in organization.',
    )
  }
  return { who, user, organization }
}
