/** Blocks of users by users and organizations. */

import { Failure } from '../../../conf/failures.js'
import { addBlock, isBlockedByAny, removeBlock } from '../../../sql/accounts/blocks.js'
import { findOwner, type Owner } from '../../../sql/accounts/owners.js'
import type { Database } from '../../../sql/database/database.js'
import { organizationRole } from '../../../sql/organizations/organizations.js'
import type { Identity } from '../../auth/authenticate.js'
import { signedIn } from '../../auth/refusals.js'
import { findVisibleOwner } from '../../auth/visible-owner.js'
import { refuseLonger } from './refuse-longer.js'

const NOTE_CHARACTERS_MAX = 255

/** The caller, and the owner who blocks. */
export interface Blocker {
  readonly who: Identity
  readonly owner: Owner
}

/**
 * Blocks a user. Throws `bad_request` for organizations, for the blocker, and for members of the
 * blocker, and `not_found` if the caller cannot see the user.
 */
export async function blockUser(
  db: Database,
  { who, owner }: Blocker,
  { name, note }: { readonly name: string; readonly note: string },
): Promise<void> {
  refuseLonger('note', note, NOTE_CHARACTERS_MAX)
  const user = await findVisibleOwner(db, who, name)
  if (user.kind === 'organization') {
    throw new Failure('bad_request', 'cannot block an organization')
  }
  const isOwn = user.id === owner.id || user.id === signedIn(who).user.id
  const isMember =
    owner.kind === 'organization' && (await organizationRole(db, owner.id, user.id)) !== 'none'
  if (isOwn || isMember || (await isBlockedByAny(db, user.id, [owner.id]))) {
    throw new Failure('bad_request', 'cannot block the user')
  }
  await addBlock(db, { ownerId: owner.id, userId: user.id }, { note })
}

/** Ends a block. Throws `bad_request` if the user is not blocked, and `not_found`. */
export async function unblockUser(
  db: Database,
  { who, owner }: Blocker,
  name: string,
): Promise<void> {
  const user = await findOwner(db, name)
  if (user !== undefined && (await removeBlock(db, { ownerId: owner.id, userId: user.id }))) return
  await findVisibleOwner(db, who, name)
  throw new Failure('bad_request', 'cannot unblock the user')
}
