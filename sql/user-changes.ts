/** What changes on an account: by its user, and by those who run the site. */

import { foldCase } from './bindings.js'
import { type Database, transaction } from './database.js'
import { selectRows } from './dialect.js'
import { orConflict } from './errors.js'
import { type OwnerPatch, presentColumns, updateOwner } from './users.js'

/** What may change; what is absent stays. */
export type UserPatch = OwnerPatch & {
  readonly email?: string | undefined
  readonly isAdmin?: boolean | undefined
  readonly isActive?: boolean | undefined
  readonly isLoginProhibited?: boolean | undefined
  readonly mustChangePassword?: boolean | undefined
  readonly passwordHash?: string | undefined
  readonly language?: string | undefined
}

/** Changes an account. Throws `conflict` when somebody has the new address. */
export async function updateUser(db: Database, userId: number, patch: UserPatch): Promise<void> {
  await transaction(db, async (trx) => {
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
    if (patch.email !== undefined) await changeEmail(trx, userId, patch.email)
  })
}

async function changeEmail(db: Database, userId: number, address: string): Promise<void> {
  const place = { user_id: userId, is_primary: true }
  const columns = { address, address_lower: foldCase(address), is_verified: true }
  await orConflict(`The e-mail address ${address} is already used.`, async () => {
    const changed = await db('emails').where(place).update(columns)
    if (changed === 0) await db('emails').insert({ ...place, ...columns })
  })
}

/** An address of a user. */
export interface Email {
  readonly address: string
  readonly isPrimary: boolean
  readonly isVerified: boolean
}

/** The addresses of a user, the primary one first. */
export async function listEmails(db: Database, userId: number): Promise<readonly Email[]> {
  const rows = await selectRows<{ address: string; is_primary: number; is_verified: number }>(
    db,
    `select address, is_primary, is_verified from emails where user_id = ?
      order by is_primary desc, id`,
    [userId],
  )
  return rows.map((row) => ({
    address: row.address,
    isPrimary: row.is_primary === 1,
    isVerified: row.is_verified === 1,
  }))
}

/** Choices of a user that the house keeps for its clients, such as `theme`. */
export type UserSettings = Readonly<Record<string, boolean | string>>

/** The choices of a user. */
export async function findUserSettings(db: Database, userId: number): Promise<UserSettings> {
  const [row] = await selectRows<{ settings: string }>(
    db,
    'select settings from user_settings where user_id = ?',
    [userId],
  )
  return row === undefined ? {} : JSON.parse(row.settings)
}

/** Keeps the choices of a user in place of those before. */
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
