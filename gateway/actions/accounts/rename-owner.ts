/** Renaming of accounts and organizations. */

import { Failure } from '../../../conf/failures.js'
import { parseOwnerName } from '../../../conf/names.js'
import { JOBS_USER_ID } from '../../../sql/accounts/jobs-user.js'
import { renameOwner } from '../../../sql/accounts/owner-names.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { Context } from '../../request/context.js'
import { conflictAsInvalid } from './conflict-as-invalid.js'

/**
 * Renames an owner; a job renews the markers of the repositories. Throws `invalid` if the name is
 * not allowed or taken.
 */
export async function renameTo(
  { db, upkeep }: Pick<Context, 'db' | 'upkeep'>,
  { id }: Pick<Owner, 'id'>,
  text: string,
): Promise<void> {
  if (id === JOBS_USER_ID) throw new Failure('invalid', 'The account of jobs cannot be renamed.')
  const name = parseOwnerName(text)
  await conflictAsInvalid(() => renameOwner(db, id, name))
  await upkeep.enqueueMarks(id)
}
