/** Links of packages to repositories, which do not affect permissions. */

import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
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

async function wantPackage(db: Database, namespace: PackageNamespace, name: string) {
  const found = await findPackage(db, namespace, name)
  if (found === undefined) throw new Failure('not_found', 'package does not exist')
  return found
}
