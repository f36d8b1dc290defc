/** The site as a whole: its first account, and what those who run it have decided. */

import { createUser, type NewUser, type User } from '../accounts/users.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

/** Whether anybody has an account. */
export async function hasUsers(db: Database): Promise<boolean> {
  return (await selectRows(db, 'select 1 from users limit 1')).length > 0
}

/** Makes the first account; undefined where there is one, be it made at the same moment. */
export async function createFirstUser(db: Database, user: NewUser): Promise<User | undefined> {
  return await transaction(db, async (trx) => {
    // Whoever makes one at the same time waits here.
    await changeSite(trx, {})
    return (await hasUsers(trx)) ? undefined : await createUser(trx, user)
  })
}

/** Whether strangers may make accounts for themselves; not before somebody said so. */
export async function isRegistrationOpen(db: Database): Promise<boolean> {
  const rows = await selectRows(db, 'select 1 from site where is_registration_open = 1')
  return rows.length > 0
}

/** Lets strangers make accounts for themselves, or no longer. */
export async function setRegistration(db: Database, isOpen: boolean): Promise<void> {
  await changeSite(db, { is_registration_open: isOpen })
}

async function changeSite(
  db: Database,
  columns: Readonly<Record<string, string | number | boolean>>,
): Promise<void> {
  await db('site')
    .insert({ id: 1, changes: 1, ...columns })
    .onConflict('id')
    .merge({ ...columns, changes: db.raw('site.changes + 1') })
}
