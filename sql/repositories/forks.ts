/** Forks of repositories. */

import { Failure } from '../../conf/failures.js'
import { foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation } from '../database/errors.js'
import { copyLfsObjects } from './lfs-objects.js'
import {
  createRepository,
  findRepositoriesById,
  type NewRepository,
  type Repository,
} from './repositories.js'

/**
 * Creates a fork. Throws `conflict` if its owner has a repository with that name, and `not_found`
 * if the parent was deleted meanwhile.
 */
export async function createFork(
  db: Database,
  fork: NewRepository,
  parentId: number,
): Promise<Repository> {
  try {
    return await transaction(db, async (trx) => {
      const created = await createRepository(trx, fork)
      await trx('repository_forks').insert({ repository_id: created.id, parent_id: parentId })
      await copyLfsObjects(trx, { fromId: parentId, toId: created.id })
      return created
    })
  } catch (error) {
    if (!isReferenceViolation(error)) throw error
    throw new Failure('not_found', 'The repository does not exist.', { cause: error })
  }
}

/**
 * Returns the repositories of an owner, or the one with that name, that are in the same fork
 * network as this one: its forks first, then its ancestors, then all others.
 */
export async function findRelatives(
  db: Database,
  { id }: Pick<Repository, 'id'>,
  { owner, name }: { readonly owner: string; readonly name?: string | undefined },
): Promise<readonly Repository[]> {
  const isNamed = name === undefined ? '' : ' and r.name_lower = ?'
  const rows = await selectRows<{ id: number }>(
    db,
    `with recursive origins (id, origin) as (
        select r.id, r.id from repositories r join owners o on o.id = r.owner_id
          where r.id = ? or (o.name_lower = ?${isNamed})
        union
        select c.id, f.parent_id from origins c
          join repository_forks f on f.repository_id = c.origin)
      select r.id from repositories r join owners o on o.id = r.owner_id
        left join repository_forks f on f.repository_id = r.id
        where o.name_lower = ?${isNamed} and r.id <> ?
        and exists (select 1 from origins a join origins b on b.origin = a.origin
          where a.id = r.id and b.id = ?)
        order by case when f.parent_id = ? then 0
          when exists (select 1 from origins a where a.id = ? and a.origin = r.id) then 1
          else 2 end, r.id`,
    [
      id,
      foldCase(owner),
      ...(name === undefined ? [] : [foldCase(name)]),
      foldCase(owner),
      ...(name === undefined ? [] : [foldCase(name)]),
      id,
      id,
      id,
      id,
    ],
  )
  const found = await findRepositoriesById(
    db,
    rows.map((row) => row.id),
  )
  const byId = new Map(found.map((repository) => [repository.id, repository]))
  return rows.flatMap((row) => byId.get(row.id) ?? [])
}
