/** A new password for who knows the old one: whoever else came in with that has to go. */

import { Failure, isFailure } from '../../../conf/failures.js'
import { setPassword, type User } from '../../../sql/accounts/users.js'
import { type AuthenticationContext, authenticateByPassword } from '../../auth/authenticate.js'
import { hashPassword } from '../../auth/password.js'

export interface PasswordChange {
  readonly user: User
  readonly old: string
  readonly fresh: string
  /** From where it is asked. */
  readonly address: string
}

/**
 * Replaces the password and ends all sessions. Throws `invalid` for a wrong old one and for a new
 * one that cannot be, and `throttled` where too many were wrong: it is no place to guess either.
 */
export async function changePassword(
  context: AuthenticationContext,
  { user, old, fresh, address }: PasswordChange,
): Promise<void> {
  try {
    await authenticateByPassword(context, { name: user.name, password: old, address })
  } catch (error) {
    if (!isFailure(error, 'bad_credentials')) throw error
    throw new Failure('invalid', 'The old password is wrong.', { cause: error })
  }
  await setPassword(context.db, user.id, await hashPassword(fresh))
}
