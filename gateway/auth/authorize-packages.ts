/** Authorization for the packages of an owner. */

import { Failure, notFound } from '../../conf/failures.js'
import type { PackageFormat } from '../../conf/package.js'
import { findOwner, type Owner } from '../../sql/accounts/owners.js'
import type { User } from '../../sql/accounts/users.js'
import { foldCase } from '../../sql/database/bindings.js'
import type { Database } from '../../sql/database/database.js'
import { accessToPackages, atLeast } from '../../sql/repositories/access.js'
import { ANONYMOUS, type Identity } from './authenticate.js'
import { limited, permittedPackages } from './limits.js'
import { refuseAnonymous, refusePublicOnly } from './refusals.js'

export interface PackagesGrant {
  readonly who: Identity
  /** Absent for an anonymous caller. */
  readonly user: User | undefined
  readonly owner: Owner
  /** Names, in lower case, of the packages to which the caller's token is limited; absent: all. */
  readonly packageNames?: ReadonlySet<string> | undefined
}

interface PackagesQuery {
  readonly mode: 'read' | 'write'
  readonly format?: PackageFormat
  readonly isSignedIn?: true
  readonly params: Readonly<Record<string, string>>
  readonly challenges: boolean
}

/**
 * Authorizes the caller to read or write the packages of an owner. Missing and private owners are
 * refused alike. A caller with read access only is refused writes with `sign_in_required` if the
 * surface challenges, as clients of registries expect, else with `forbidden`.
 */
export async function authorizePackages(
  db: Database,
  who: Identity,
  question: PackagesQuery,
): Promise<PackagesGrant> {
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
    const message = `You may not change the packages of ${owner.name}.`
    throw new Failure(challenges ? 'sign_in_required' : 'forbidden', message)
  }
  return { who: caller, user, owner, packageNames }
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
