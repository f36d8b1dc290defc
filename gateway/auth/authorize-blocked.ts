/** Refusal of users whom other users or organizations block. */

import { Failure } from '../../conf/failures.js'
import { isBlockedByAny } from '../../sql/accounts/blocks.js'
import type { Owner } from '../../sql/accounts/owners.js'
import type { Database } from '../../sql/database/database.js'

/** Throws `forbidden` if one of the owners blocks the user. */
export async function refuseBlockedBy(
  db: Database,
  user: Pick<Owner, 'id'>,
  ownerIds: readonly number[],
): Promise<void> {
  if (await isBlockedByAny(db, user.id, ownerIds)) throw new Failure('forbidden', 'user is blocked')
}

/** Throws `forbidden` if one of the two blocks the other. */
export async function refuseBlockedPair(
  db: Database,
  one: Pick<Owner, 'id'>,
  other: Pick<Owner, 'id'>,
): Promise<void> {
  await refuseBlockedBy(db, one, [other.id])
  await refuseBlockedBy(db, other, [one.id])
}
