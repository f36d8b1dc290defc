/** Change of a password by its user, which ends all sessions of the account. */

import { Failure, isFailure } from '../../../conf/failures.js'
import { setPassword, type User } from '../../../sql/accounts/users.js'
import { type AuthenticationContext, authenticateByPassword } from '../../auth/authenticate.js'
import { hashPassword } from '../../auth/password.js'

export interface PasswordChange {
  readonly user: User
  readonly old: string
  readonly fresh: string
  /** Address of the client, for which wrong passwords are counted. */
  readonly address: string
}

/**
 * Replaces the password and ends all sessions. Throws `invalid` if the old password is wrong or the
 * new one is not permitted, and `throttled` after too many wrong passwords, as a sign-in does.
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
