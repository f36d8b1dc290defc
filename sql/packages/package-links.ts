/** Links of packages to repositories, which do not affect permissions. */

import { Failure } from '../../conf/failures.js'
import type { Owner } from '../accounts/owners.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation } from '../database/errors.js'
import { findPackage, type PackageNamespace } from './packages.js'

/**
 * Links a package to a repository. Throws `bad_request` if it is linked already, and `not_found` if
 * the package or the repository does not exist.
 */
export async function linkPackage(
  db: Database,
  namespace: PackageNamespace,
  { packageName, repositoryId }: { readonly packageName: string; readonly repositoryId: number },
): Promise<void> {
  const { id } = await wantPackage(db, namespace, packageName)
  try {
    const isLinked = await transaction(db, async (trx) => {
      const unlinked = trx('packages').where({ id }).whereNull('repository_id')
      return (await unlinked.update({ repository_id: repositoryId })) > 0
    })
    if (isLinked) return
  } catch (error) {
    if (!isReferenceViolation(error)) throw error
    throw new Failure('not_found', 'repository does not exist', { cause: error })
  }
  throw new Failure('bad_request', 'The package is linked to a repository already.')
}

/**
 * Removes the link of a package. Throws `bad_request` if it has none, and `not_found` if the
 * package does not exist.
 */
export async function unlinkPackage(
  db: Database,
  namespace: PackageNamespace,
  packageName: string,
): Promise<void> {
  const { id } = await wantPackage(db, namespace, packageName)
  const isUnlinked = await transaction(db, async (trx) => {
    const linked = trx('packages').where({ id }).whereNotNull('repository_id')
    return (await linked.update({ repository_id: null })) > 0
  })
  if (isUnlinked) return
  throw new Failure('bad_request', 'The package is linked to no repository.')
}

/** Returns the id of the repository that a package is linked to. */
export async function findLinkedRepositoryId(
  db: Database,
  packageId: number,
): Promise<number | undefined> {
  const [row] = await selectRows<{ repository_id: number | null }>(
    db,
    'select repository_id from packages where id = ?',
    [packageId],
  )
  return row?.repository_id ?? undefined
}

export interface LinkedPackages {
  readonly ownerId: number
  readonly format: string
  readonly repositoryId: number
}

/** True if a package of an owner is linked to a repository. */
export async function hasLinkedPackages(db: Database, { id }: Pick<Owner, 'id'>): Promise<boolean> {
  const linked = await selectRows<{ id: number }>(
    db,
    'select p.id from packages p where p.owner_id = ? and p.repository_id is not null limit 1',
    [id],
  )
  return linked.length > 0
}

/** Returns the names, in lower case, of the packages that are linked to a repository. */
export async function listLinkedNames(
  db: Database,
  { ownerId, format, repositoryId }: LinkedPackages,
): Promise<ReadonlySet<string>> {
  const rows = await selectRows<{ name_lower: string }>(
    db,
    `select p.name_lower from packages p
      where p.repository_id = ? and p.owner_id = ? and p.format = ?`,
    [repositoryId, ownerId, checkText(format)],
  )
  return new Set(rows.map((row) => row.name_lower))
}

async function wantPackage(db: Database, namespace: PackageNamespace, name: string) {
  const found = await findPackage(db, namespace, name)
  if (found === undefined) throw new Failure('not_found', 'package does not exist')
  return found
}
