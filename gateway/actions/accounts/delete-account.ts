/** Deletion of an account, optionally with its repositories and packages. */

import { Failure } from '../../../conf/failures.js'
import { deleteUser, type User } from '../../../sql/accounts/users.js'
import { listSolelyOwned } from '../../../sql/organizations/organization-members.js'
import { listOwnerVersions } from '../../../sql/packages/package-lists.js'
import { removePackage } from '../../../sql/packages/publications.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { searchRepositories } from '../../../sql/repositories/repository-lists.js'
import type { Context } from '../../request/context.js'
import { removeFolders } from '../repositories/delete-repository.js'
import { conflictAsInvalid } from './conflict-as-invalid.js'

const PAGE_ENTRIES = 50

/**
 * Deletes the account; a purge first deletes its repositories and packages. Throws `invalid` if the
 * account is the last owner of an organization, or still owns repositories or packages.
 */
export async function deleteAccount(
  context: Context,
  user: User,
  { isPurge }: { readonly isPurge: boolean },
): Promise<void> {
  const { db } = context
  const organizations = await listSolelyOwned(db, user.id)
  if (organizations.length > 0) {
    const names = organizations.join(', ')
    throw new Failure('invalid', `The user is the last owner of organizations: ${names}.`)
  }
  if (isPurge) await deleteBelongings(context, user)
  await conflictAsInvalid(() => deleteUser(db, user.id))
}

/** Deletes repositories and packages. If others are created meanwhile, `deleteUser` throws. */
async function deleteBelongings({ db, settings }: Context, { id }: User): Promise<void> {
  const page = { page: 1, limit: PAGE_ENTRIES }
  const viewer = { kind: 'user', id } as const
  for (;;) {
    const { entries } = await searchRepositories(db, { viewer, ownerId: id }, page)
    if (entries.length === 0) break
    for (const repository of entries) {
      await deleteRepository(db, repository.id)
      await removeFolders({ db, settings }, repository)
    }
  }
  for (;;) {
    const { entries } = await listOwnerVersions(db, { ownerId: id }, page)
    if (entries.length === 0) break
    for (const { format, packageName } of entries) {
      await removePackage(db, { ownerId: id, format }, { packageName })
    }
  }
}
