/** E-mail addresses of users: one primary address, and further ones. */

import { Failure } from '../../conf/failures.js'
import { foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'

/** Maximum number of addresses of a user; their list has no pages. */
export const EMAILS_MAX = 100

/** E-mail address of a user. */
export interface Email {
  readonly address: string
  readonly isPrimary: boolean
  readonly isVerified: boolean
  readonly userId: number
  readonly userName: string
}

/** Returns the e-mail addresses of a user, the primary one first. */
export async function listEmails(db: Database, userId: number): Promise<readonly Email[]> {
  const rows = await selectRows<EmailRow>(
    db,
    `${SELECT} where e.user_id = ? order by e.is_primary desc, e.id`,
    [userId],
  )
  return rows.map(emailOf)
}

/**
 * Returns the addresses of all users that contain `text`, or whose user has it in the full name,
 * ordered by address. Case is ignored.
 */
export async function searchEmails(db: Database, text: string, page: Page): Promise<Paged<Email>> {
  const folded = foldCase(text)
  const where = 'where instr(e.address_lower, ?) > 0 or instr(lower(o.full_name), ?) > 0'
  const bindings = [folded, folded]
  const [count] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total ${TABLES} ${where}`,
    bindings,
  )
  const rows = await selectRows<EmailRow>(
    db,
    `${SELECT} ${where} order by e.address_lower, e.id limit ? offset ?`,
    [...bindings, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(emailOf), total: count?.total ?? 0 }
}

/**
 * Adds all addresses to a user, or none of them. Throws `conflict` if one is taken, and `invalid`
 * if the user would have more than EMAILS_MAX.
 */
export async function addEmails(
  db: Database,
  userId: number,
  addresses: readonly string[],
): Promise<void> {
  await transaction(db, async (trx) => {
    // The row lock makes concurrent additions count each other's addresses.
    await trx('users').where({ owner_id: userId }).forUpdate().first('owner_id')
    const held = await listEmails(trx, userId)
    if (held.length + addresses.length > EMAILS_MAX) {
      throw new Failure('invalid', `A user has at most ${EMAILS_MAX} e-mail addresses.`)
    }
    for (const address of addresses) {
      await orConflict(`Email address has been used: ${address}`, () =>
        trx('emails').insert({
          user_id: userId,
          address,
          address_lower: foldCase(address),
          is_primary: false,
          is_verified: true,
        }),
      )
    }
  })
}

/**
 * Removes all addresses from a user, or none of them. Throws `not_found` if the user lacks one, and
 * `invalid` for the primary address.
 */
export async function removeEmails(
  db: Database,
  userId: number,
  addresses: readonly string[],
): Promise<void> {
  await transaction(db, async (trx) => {
    for (const address of addresses) {
      const place = { user_id: userId, address_lower: foldCase(address) }
      const row = await trx('emails').where(place).forUpdate().first('is_primary')
      if (row === undefined) {
        throw new Failure('not_found', `The user has no e-mail address ${address}.`)
      }
      if (row.is_primary) {
        throw new Failure('invalid', `The primary e-mail address ${address} cannot be removed.`)
      }
      await trx('emails').where(place).delete()
    }
  })
}

/**
 * Replaces the primary address of a user, also by a further address of the user. Throws `conflict`
 * if another user has it.
 */
export async function changePrimaryEmail(
  trx: Database,
  userId: number,
  address: string,
): Promise<void> {
  const place = { user_id: userId, is_primary: true }
  const columns = { address, address_lower: foldCase(address), is_verified: true }
  const further = { user_id: userId, is_primary: false, address_lower: columns.address_lower }
  await trx('emails').where(further).delete()
  await orConflict(`The e-mail address ${address} is already used.`, async () => {
    const changed = await trx('emails').where(place).update(columns)
    if (changed === 0) await trx('emails').insert({ ...place, ...columns })
  })
}

const TABLES = 'from emails e join owners o on o.id = e.user_id'

const SELECT = `select e.address, e.is_primary, e.is_verified, e.user_id, o.name as user_name
  ${TABLES}`

interface EmailRow {
  readonly address: string
  readonly is_primary: number
  readonly is_verified: number
  readonly user_id: number
  readonly user_name: string
}

function emailOf(row: EmailRow): Email {
  return {
    address: row.address,
    isPrimary: row.is_primary === 1,
    isVerified: row.is_verified === 1,
    userId: row.user_id,
    userName: row.user_name,
  }
}
