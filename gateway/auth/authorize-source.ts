/** Authorization for repositories whose code a package registry serves. */

import { Failure } from '../../conf/failures.js'
import type { Database } from '../../sql/database/database.js'
import type { Identity } from './authenticate.js'
import { authorize } from './authorize.js'
import type { RepositoryGrant } from './authorize-repository.js'

export interface SourceQuery {
  readonly owner: { readonly name: string }
  /** Name of the repository, which belongs to the owner or did so earlier. */
  readonly repo: string
  readonly anonymousBytesMax: number | undefined
}

/**
 * Authorizes the caller of a package registry to download a repository, as for its archives.
 * Undefined if the repository is missing, and if the caller or the scopes of the token do not
 * permit it.
 */
export async function authorizeSource(
  db: Database,
  who: Identity,
  { owner, repo, anonymousBytesMax }: SourceQuery,
): Promise<RepositoryGrant | undefined> {
  try {
    return await authorize(db, {
      who,
      access: { kind: 'repository', mode: 'read', isDownload: true },
      scopes: ['read:repository'],
      params: { owner: owner.name, repo },
      challenges: false,
      anonymousBytesMax,
    })
  } catch (error) {
    if (error instanceof Failure && HIDDEN_STATUSES.has(error.status)) return undefined
    throw error
  }
}

const HIDDEN_STATUSES: ReadonlySet<number> = new Set([401, 403, 404])
