/** Authorization for the packages of an owner. */

import { Failure, notFound } from '../../conf/failures.js'
import type { PackageFormat } from '../../conf/package.js'
import { JOBS_USER_ID } from '../../sql/accounts/jobs-user.js'
import { findOwner, type Owner } from '../../sql/accounts/owners.js'
import { findUserById, type User } from '../../sql/accounts/users.js'
import { foldCase } from '../../sql/database/bindings.js'
import type { Database } from '../../sql/database/database.js'
import { listLinkedNames } from '../../sql/packages/package-links.js'
import {
  accessToPackages,
  atLeast,
  everyUnit,
  type RepositoryModes,
} from '../../sql/repositories/access.js'
import { findRepositoryById, type Repository } from '../../sql/repositories/repositories.js'
import { ANONYMOUS, type Identity } from './authenticate.js'
import { accessToLinked } from './authorize-repository.js'
import { limited, permittedPackages, refuseOtherPackage } from './limits.js'
import { refuseAnonymous, refusePublicOnly } from './refusals.js'
import { scopeAllows } from './scopes.js'

export interface PackagesGrant {
  readonly who: Identity
  /** Absent for an anonymous caller. */
  readonly user: User | undefined
  readonly owner: Owner
  /** Names, in lower case, of the packages to which the caller's token is limited; absent: all. */
  readonly packageNames?: ReadonlySet<string> | undefined
  /** Repository of the job that calls; absent for other callers. */
  readonly repositoryId?: number | undefined
}

interface PackagesQuery {
  readonly mode: 'read' | 'write' | 'owner'
  readonly format?: PackageFormat
  readonly isSignedIn?: true
  readonly params: Readonly<Record<string, string>>
  readonly challenges: boolean
}

/**
 * Authorizes the caller to read, write or own the packages of an owner. Missing and private owners
 * are refused alike. A caller with read access only is refused writes with `sign_in_required` if
 * the surface challenges, as clients of registries expect, else with `forbidden`.
 */
export async function authorizePackages(
  db: Database,
  who: Identity,
  question: PackagesQuery,
): Promise<PackagesGrant> {
  if (who.kind === 'job') return await authorizeJob(db, who, question)
  const { mode: needed, challenges } = question
  const isPublicRead = needed === 'read' && !question.isSignedIn
  if (!isPublicRead) refuseAnonymous(who)
  const owner = await findOwner(db, question.params['owner'] ?? '')
  const { caller, packageNames } = callerAtPackages(who, { ...question, ownerId: owner?.id ?? 0 })
  const user = caller.kind === 'user' ? caller.user : undefined
  const mode =
    owner === undefined || who.kind === 'deploy-key'
      ? 'none'
      : await accessToPackages(db, user, owner)
  if (owner === undefined || mode === 'none') {
    if (challenges) refuseAnonymous(who)
    throw notFound()
  }
  if (caller !== who && !isPublicRead) throw limited()
  refusePublicOnly(who, owner)
  if (!atLeast(mode, needed)) {
    const what = needed === 'owner' ? 'settings of the packages' : 'packages'
    const message = `You may not change the ${what} of ${owner.name}.`
    throw new Failure(challenges ? 'sign_in_required' : 'forbidden', message)
  }
  return { who: caller, user, owner, packageNames }
}

/**
 * Authorizes a job, which writes packages of the owner of its repository: new ones, and those that
 * are linked to the repository. For all else, it has the access of an anonymous client.
 */
async function authorizeJob(
  db: Database,
  who: Extract<Identity, { kind: 'job' }>,
  question: PackagesQuery,
): Promise<PackagesGrant> {
  const { mode, params } = question
  const repository = mode === 'write' ? await findRepositoryById(db, who.repositoryId) : undefined
  const isOwn = repository && foldCase(repository.owner.name) === foldCase(params['owner'] ?? '')
  if (repository === undefined || !isOwn) return await authorizePackages(db, ANONYMOUS, question)
  if (who.permissions.packages !== 'write') {
    throw new Failure('forbidden', "The token of this job lacks the permission 'packages: write'.")
  }
  const format = question.format ?? params['type'] ?? ''
  const { owner, id: repositoryId } = repository
  const packageNames = await listLinkedNames(db, { ownerId: owner.id, format, repositoryId })
  if (question.format === undefined) refuseOtherPackage(packageNames, params['name'] ?? '')
  const user = await findUserById(db, JOBS_USER_ID)
  return { who, user, owner, packageNames, repositoryId }
}

/**
 * Returns the caller and the packages to which the caller's token is limited. If the token does not
 * permit the request, the caller is anonymous. A registry's upload is permitted here if the token
 * permits any package of the format: its package is known only after its content is read.
 */
function callerAtPackages(
  who: Identity,
  { ownerId, params, mode, isSignedIn, ...question }: PackagesQuery & { ownerId: number },
): { readonly caller: Identity; readonly packageNames: ReadonlySet<string> | undefined } {
  const format = question.format ?? params['type']
  const packageNames = permittedPackages(who, { ownerId, format })
  const isRegistry = question.format !== undefined
  const name = isRegistry ? undefined : params['name']
  const isOpen =
    packageNames === undefined ||
    (name !== undefined && packageNames.has(foldCase(name))) ||
    (isRegistry && packageNames.size > 0 && (mode === 'write' || isSignedIn === true))
  return isOpen ? { caller: who, packageNames } : { caller: ANONYMOUS, packageNames: undefined }
}

/**
 * Returns the caller's access to the repository of an authorized package, as `accessToLinked` does.
 * A token without the scope `read:repository` has none to a repository that is not public.
 */
export async function accessToPackageRepository(
  db: Database,
  who: Identity,
  repository: Repository,
): Promise<RepositoryModes> {
  const isPublic = repository.owner.visibility === 'public' && !repository.isPrivate
  const scopes = who.kind === 'user' ? who.scopes : undefined
  const isInScope = scopes === undefined || scopeAllows(scopes, 'read:repository')
  if (!isPublic && !isInScope) return everyUnit('none')
  return await accessToLinked(db, who, repository)
}
