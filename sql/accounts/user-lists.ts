/** Lists of users, filtered by what the viewer may know of. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { type Condition, ownersVisibleTo, type Viewer } from '../repositories/visibility.js'
import { USER_COLUMNS, USER_TABLES, type User, type UserRow, userOf } from './users.js'

/**
 * Returns the users `u` that match the condition `fit` and that `viewer` may know of, oldest
 * account first.
 */
export async function listUsersWho(
  db: Database,
  { fit, viewer }: { readonly fit: Condition; readonly viewer: Viewer },
  page: Page,
): Promise<Paged<User>> {
  const seen = ownersVisibleTo(viewer)
  const where = `${seen.where} and ${fit.where}`
  const bindings = [...seen.bindings, ...fit.bindings]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from users u join owners o on o.id = u.owner_id where ${where}`,
    bindings,
  )
  const rows = await selectRows<UserRow>(
    db,
    `select ${USER_COLUMNS} from ${USER_TABLES} where ${where} order by o.id limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(userOf), total: count?.total ?? 0 }
}
