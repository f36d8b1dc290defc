/** Site-wide data: the first account, and the settings that administrators change. */

import { createUser, type NewUser, type User } from '../accounts/users.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

/** Returns true if any user exists. */
export async function hasUsers(db: Database): Promise<boolean> {
  return (await selectRows(db, 'select 1 from users where owner_id > 0 limit 1')).length > 0
}

/** Creates the first account; undefined if a user exists or is created concurrently. */
export async function createFirstUser(db: Database, user: NewUser): Promise<User | undefined> {
  return await transaction(db, async (trx) => {
    // Concurrent calls wait here for the lock of the row.
    await changeSite(trx, {})
    return (await hasUsers(trx)) ? undefined : await createUser(trx, user)
  })
}

/** Returns true if visitors may register an account. The default is false. */
export async function isRegistrationOpen(db: Database): Promise<boolean> {
  const rows = await selectRows(db, 'select 1 from site where is_registration_open = 1')
  return rows.length > 0
}

/** Opens or closes the registration of accounts by visitors. */
export async function setRegistration(db: Database, isOpen: boolean): Promise<void> {
  await changeSite(db, { is_registration_open: isOpen })
}

/** Returns the fingerprint of the secret key with which this site's values are sealed, if known. */
export async function findSecretFingerprint(db: Database): Promise<string | undefined> {
  const [row] = await selectRows<{ secret_fingerprint: string | null }>(
    db,
    'select secret_fingerprint from site',
  )
  return row?.secret_fingerprint ?? undefined
}

/** Stores the fingerprint of the secret key, unless one is stored already. */
export async function addSecretFingerprint(db: Database, fingerprint: string): Promise<void> {
  await changeSite(db, {})
  await db('site').whereNull('secret_fingerprint').update({ secret_fingerprint: fingerprint })
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
