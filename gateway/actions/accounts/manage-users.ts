/** Management of accounts by site administrators. */

import { Failure } from '../../../conf/failures.js'
import { parseEmail } from '../../../conf/names.js'
import { type UserPatch, updateUser } from '../../../sql/accounts/user-changes.js'
import { createUser, findUser, type User } from '../../../sql/accounts/users.js'
import { hashPassword } from '../../auth/password.js'
import type { Context } from '../../request/context.js'
import { conflictAsInvalid } from './conflict-as-invalid.js'
import { deleteAccount } from './delete-account.js'
import { type AccountInput, newAccount } from './make-account.js'

export type AccountPatch = Omit<UserPatch, 'passwordHash'> & {
  readonly password?: string | undefined
}

/** Creates an account. Throws `invalid` also if the name or the e-mail address is taken. */
export async function makeUser(
  { db }: Pick<Context, 'db'>,
  input: AccountInput,
  patch: UserPatch = {},
): Promise<User> {
  const account = await newAccount(input)
  return await conflictAsInvalid(async () => {
    const user = await createUser(db, account)
    await updateUser(db, user.id, patch)
    return (await findUser(db, user.name)) ?? user
  })
}

/** Account, and the administrator who changes it. */
export interface ManagedUser {
  readonly user: User
  readonly admin: User
}

/** Changes an account. Throws `invalid` also if administrators would lock themselves out. */
export async function changeUser(
  { db }: Pick<Context, 'db'>,
  { user, admin }: ManagedUser,
  { password, email, ...patch }: AccountPatch,
): Promise<User> {
  if (user.id === admin.id) refuseOwnEnd(patch)
  const passwordHash = password === undefined ? undefined : await hashPassword(password)
  await conflictAsInvalid(() =>
    updateUser(db, user.id, {
      ...patch,
      passwordHash,
      email: email === undefined ? undefined : parseEmail(email),
    }),
  )
  return (await findUser(db, user.name)) ?? user
}

/** Refuses that administrators lock themselves out: no other one may exist who could undo it. */
function refuseOwnEnd({ isActive, isAdmin, isLoginProhibited }: AccountPatch): void {
  if (isActive === false || isAdmin === false || isLoginProhibited === true) {
    throw new Failure(
      'invalid',
      'Site administrators cannot deactivate their own account or remove its rights.',
    )
  }
}

/** Deletes an account as `deleteAccount` does. Throws `invalid` also for the caller's own. */
export async function removeUser(
  context: Context,
  { user, admin }: ManagedUser,
  options: { readonly isPurge: boolean },
): Promise<void> {
  if (user.id === admin.id) throw new Failure('invalid', 'you cannot delete yourself')
  await deleteAccount(context, user, options)
}
