/** Validation of the fields of a new account. */

import { parseEmail, parseOwnerName } from '../../../conf/names.js'
import type { NewUser } from '../../../sql/accounts/users.js'
import { hashPassword } from '../../auth/password.js'

export interface AccountInput {
  readonly name: string
  readonly email: string
  readonly password: string
  readonly fullName?: string
  readonly isAdmin: boolean
}

/** Returns the account to insert. Throws `invalid` if a field is not permitted. */
export async function newAccount({ password, ...input }: AccountInput): Promise<NewUser> {
  const [name, email] = [parseOwnerName(input.name), parseEmail(input.email)]
  return { ...input, name, email, passwordHash: await hashPassword(password) }
}
