/** Patterns of package versions that cannot be deleted. */

import { Failure } from '../../conf/failures.js'
import type { PackageFormat } from '../../conf/package.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'

export interface PackageProtection {
  readonly id: number
  readonly format: PackageFormat
  /** Pattern that is matched with `name/version`. */
  readonly pattern: string
  readonly createdAtMs: number
}

/** Maximum number of patterns for a format, because each deletion matches all of them. */
const PROTECTIONS_MAX = 50

/** Returns the patterns of an owner, of one format or of all formats. */
export async function listPackageProtections(
  db: Database,
  { ownerId, format }: { readonly ownerId: number; readonly format?: string },
): Promise<readonly PackageProtection[]> {
  const rows = await selectRows<ProtectionRow>(
    db,
    `select id, format, pattern, created_at from package_protections where owner_id = ?
      ${format === undefined ? '' : 'and format = ?'} order by format, id`,
    [ownerId, ...(format === undefined ? [] : [format])],
  )
  return rows.map(({ created_at, ...row }) => ({ ...row, createdAtMs: created_at }))
}

interface ProtectionRow {
  readonly id: number
  readonly format: PackageFormat
  readonly pattern: string
  readonly created_at: number
}

/** Adds a pattern and returns it. Throws `conflict` if it exists, `invalid` for too many. */
export async function addPackageProtection(
  db: Database,
  ownerId: number,
  { format, pattern }: Pick<PackageProtection, 'format' | 'pattern'>,
): Promise<PackageProtection> {
  return await transaction(db, async (trx) => {
    // Serializes additions, so that concurrent ones cannot exceed the limit together.
    await trx('owners').where({ id: ownerId }).forUpdate().first('id')
    const known = await listPackageProtections(trx, { ownerId, format })
    if (known.length >= PROTECTIONS_MAX) {
      const message = `An owner can have at most ${PROTECTIONS_MAX} patterns for a package format.`
      throw new Failure('invalid', message)
    }
    const createdAtMs = Date.now()
    const [id] = await orConflict(`The pattern ${JSON.stringify(pattern)} exists already.`, () =>
      trx('package_protections').insert({
        owner_id: ownerId,
        format,
        pattern,
        created_at: createdAtMs,
      }),
    )
    if (id === undefined) throw new Error('The insert returned no id.')
    return { id, format, pattern, createdAtMs }
  })
}

/** Removes a pattern. Returns false if the owner has no pattern with that id. */
export async function removePackageProtection(
  db: Database,
  ownerId: number,
  id: number,
): Promise<boolean> {
  return (await db('package_protections').where({ id, owner_id: ownerId }).delete()) > 0
}
