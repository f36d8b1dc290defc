/** A new organization, with whoever asks for it as its first owner. */

import { Failure, isFailure } from '../../conf/failures.js'
import { parseEmail, parseOwnerName } from '../../conf/names.js'
import type { Database } from '../../sql/database.js'
import {
  createOrganization,
  type NewOrganization,
  type Organization,
} from '../../sql/organizations.js'

/** Throws `invalid` for a name that cannot be, or is taken. */
export async function openOrganization(db: Database, wish: NewOrganization): Promise<Organization> {
  const name = parseOwnerName(wish.name)
  const email = wish.email === '' ? '' : parseEmail(wish.email)
  try {
    return await createOrganization(db, { ...wish, name, email })
  } catch (error) {
    // A taken name is an invalid one here, where elsewhere it is a conflict.
    if (isFailure(error, 'conflict')) throw new Failure('invalid', error.message)
    throw error
  }
}
