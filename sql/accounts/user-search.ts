/** Search for accounts by id, name, part of a name or part of an e-mail address. */

import { foldCase } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { type Condition, ownersVisibleTo, type Viewer } from '../repositories/visibility.js'
import { USER_COLUMNS, USER_TABLES, type User, type UserRow, userOf } from './users.js'

export interface UserSearch {
  /** Users that the viewer may not know of are left out. */
  readonly viewer: Viewer
  readonly id?: number | undefined
  /**
   * Part of the name, of the full name or of the primary e-mail address. Case is ignored. Addresses
   * of others are searched for site administrators only.
   */
  readonly text?: string | undefined
  /** Whole name. Case is ignored. */
  readonly name?: string | undefined
}

/** Returns the users that match all criteria, ordered by name. */
export async function searchUsers(
  db: Database,
  search: UserSearch,
  page: Page,
): Promise<Paged<User>> {
  const { id, text = '', name } = search
  const folded = foldCase(text)
  const conditions = [
    ownersVisibleTo(search.viewer),
    // The account of jobs is found by its id and by its name only.
    ...(id === undefined && name === undefined ? [{ where: 'o.id > 0', bindings: [] }] : []),
    ...(id === undefined ? [] : [{ where: 'o.id = ?', bindings: [id] }]),
    ...(folded === '' ? [] : [contains(folded, search.viewer)]),
    ...(name === undefined ? [] : [{ where: 'o.name_lower = ?', bindings: [foldCase(name)] }]),
  ]
  const where = conditions.map((condition) => condition.where).join(' and ')
  const bindings = conditions.flatMap((condition) => condition.bindings)
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from ${USER_TABLES} where ${where}`,
    bindings,
  )
  const rows = await selectRows<UserRow>(
    db,
    `select ${USER_COLUMNS} from ${USER_TABLES} where ${where}
      order by o.name_lower limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(userOf), total: count?.total ?? 0 }
}

function contains(text: string, viewer: Viewer): Condition {
  const inNames = 'instr(o.name_lower, ?) > 0 or instr(lower(o.full_name), ?) > 0'
  const inEmail = 'instr(e.address_lower, ?) > 0'
  switch (viewer.kind) {
    case 'admin':
      return { where: `(${inNames} or ${inEmail})`, bindings: [text, text, text] }
    case 'user': {
      const bindings = [text, text, viewer.id, text]
      return { where: `(${inNames} or (o.id = ? and ${inEmail}))`, bindings }
    }
    default:
      return { where: `(${inNames})`, bindings: [text, text] }
  }
}
