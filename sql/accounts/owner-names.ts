/** Renaming of owners; repositories of a renamed owner are found by the former name too. */

import { Failure } from '../../conf/failures.js'
import { foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'

/**
 * Renames an owner. The former name redirects until another owner takes it. Throws `conflict` if
 * the name is taken, and `not_found` if the owner does not exist.
 */
export async function renameOwner(db: Database, ownerId: number, name: string): Promise<void> {
  const nameLower = foldCase(name)
  await transaction(db, async (trx) => {
    const before: { name_lower: string } | undefined = await trx('owners')
      .where({ id: ownerId })
      .forUpdate()
      .first('name_lower')
    if (before === undefined) throw new Failure('not_found', 'The owner does not exist.')
    await orConflict(`The name ${name} is already taken.`, () =>
      trx('owners')
        .where({ id: ownerId })
        .update({ name, name_lower: nameLower, updated_at: Date.now() }),
    )
    if (nameLower === before.name_lower) return
    await removeOwnerRedirect(trx, nameLower)
    await trx('owner_redirects').insert({ name_lower: before.name_lower, owner_id: ownerId })
  })
}

/** Ends the redirect of a former name, because another owner has taken it. */
export async function removeOwnerRedirect(db: Database, nameLower: string): Promise<void> {
  await db('owner_redirects').where({ name_lower: nameLower }).delete()
}

/** Returns the present name of the owner who had that name. */
export async function findNewName(db: Database, formerName: string): Promise<string | undefined> {
  const [row] = await selectRows<{ name: string }>(
    db,
    `select o.name from owner_redirects d join owners o on o.id = d.owner_id
      where d.name_lower = ?`,
    [foldCase(formerName)],
  )
  return row?.name
}
