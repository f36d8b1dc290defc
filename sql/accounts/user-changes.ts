/** Changes to an account by its user and by site administrators. */

import { Failure } from '../../conf/failures.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { listSolelyOwned } from '../organizations/organization-members.js'
import { changePrimaryEmail } from './emails.js'
import { type OwnerPatch, presentColumns, updateOwner } from './owners.js'

/** Changes to an account; absent fields keep their value. */
export type UserPatch = OwnerPatch & {
  readonly email?: string | undefined
  readonly isAdmin?: boolean | undefined
  readonly isActive?: boolean | undefined
  readonly isLoginProhibited?: boolean | undefined
  readonly mustChangePassword?: boolean | undefined
  readonly passwordHash?: string | undefined
  readonly language?: string | undefined
}

/**
 * Changes an account. Throws `conflict` if the e-mail address is taken, and `invalid` if the site
 * would be left without an administrator who can sign in, or an organization without an owner who
 * can.
 */
export async function updateUser(db: Database, userId: number, patch: UserPatch): Promise<void> {
  await transaction(db, async (trx) => {
    await refuseLast(trx, userId, patch)
    await updateOwner(trx, userId, patch)
    const columns = presentColumns({
      is_admin: patch.isAdmin,
      is_active: patch.isActive,
      is_login_prohibited: patch.isLoginProhibited,
      must_change_password: patch.mustChangePassword,
      password_hash: patch.passwordHash,
      language: patch.language,
    })
    if (Object.keys(columns).length > 0) {
      await trx('users').where({ owner_id: userId }).update(columns)
    }
    if (patch.passwordHash !== undefined) {
      await trx('sessions').where({ user_id: userId }).delete()
      await trx('sign_in_tickets').where({ user_id: userId }).delete()
    }
    if (patch.email !== undefined) await changePrimaryEmail(trx, userId, patch.email)
  })
}

const OPEN = { is_active: true, is_login_prohibited: false }

async function refuseLast(db: Database, userId: number, patch: UserPatch): Promise<void> {
  const isClosing = patch.isActive === false || patch.isLoginProhibited === true
  if (!isClosing && patch.isAdmin !== false) return
  // The row locks make concurrent changes to other administrators wait.
  const admins = db('users').where({ ...OPEN, is_admin: true })
  const adminIds: number[] = await admins.orderBy('owner_id').forUpdate().pluck('owner_id')
  if (adminIds.length === 1 && adminIds[0] === userId) {
    throw new Failure('invalid', 'The site would have no administrator who can sign in.')
  }
  const user = db('users').where({ ...OPEN, owner_id: userId })
  if (!isClosing || (await user.forUpdate().first('owner_id')) === undefined) return
  const teams = db('team_members').where({ user_id: userId }).select('team_id')
  const ids = db('teams').whereIn('id', teams).select('organization_id')
  await db('organizations').whereIn('owner_id', ids).forUpdate().select('owner_id')
  const names = await listSolelyOwned(db, userId)
  if (names.length === 0) return
  throw new Failure(
    'invalid',
    `These organizations would have no owner who can sign in: ${names.join(', ')}.`,
  )
}

/** Preferences of a user that are stored for clients, such as `theme`. */
export type UserSettings = Readonly<Record<string, boolean | string>>

/** Returns the preferences of a user. */
export async function findUserSettings(db: Database, userId: number): Promise<UserSettings> {
  const [row] = await selectRows<{ settings: string }>(
    db,
    'select settings from user_settings where user_id = ?',
    [userId],
  )
  return row === undefined ? {} : JSON.parse(row.settings)
}

/** Replaces the preferences of a user. */
export async function saveUserSettings(
  db: Database,
  userId: number,
  settings: UserSettings,
): Promise<void> {
  await db('user_settings')
    .insert({ user_id: userId, settings: JSON.stringify(settings) })
    .onConflict('user_id')
    .merge()
}
