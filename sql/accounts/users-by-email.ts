/** Users by e-mail address, for commits, which name their author by address. */

import { foldCase } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { USER_COLUMNS, USER_TABLES, type User, type UserRow, userOf } from './users.js'

/** Returns the users of verified addresses, by the address in lower case. Runs one query. */
export async function findUsersByEmail(
  db: Database,
  addresses: Iterable<string>,
): Promise<ReadonlyMap<string, User>> {
  const wanted = [...new Set([...addresses].map(foldCase))].filter((address) => address !== '')
  if (wanted.length === 0) return new Map()
  const marks = wanted.map(() => '?').join(', ')
  const rows = await selectRows<UserRow & { readonly matched: string }>(
    db,
    `select ${USER_COLUMNS}, m.address_lower as matched from ${USER_TABLES}
     join emails m on m.user_id = u.owner_id
     where m.is_verified = 1 and m.address_lower in (${marks})`,
    wanted,
  )
  return new Map(rows.map((row) => [row.matched, userOf(row)]))
}
