/** Owners of repositories and packages: users and organizations. */

import { foldCase } from '../database/bindings.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'
import { removeOwnerRedirect } from './owner-names.js'

/** Audience that may know of an owner. */
export type Visibility = 'public' | 'limited' | 'private'

/** User or organization. */
export interface Owner {
  readonly id: number
  readonly kind: 'user' | 'organization'
  readonly name: string
  readonly fullName: string
  readonly description: string
  readonly website: string
  readonly location: string
  readonly visibility: Visibility
  /** Hash of the uploaded picture. */
  readonly avatarHash: string | undefined
  readonly createdAtMs: number
}

export interface NewOwner {
  readonly kind: Owner['kind']
  readonly name: string
  readonly fullName: string
  readonly description: string
  readonly website: string
  readonly location: string
  readonly visibility: Visibility
}

/** Inserts an owner and returns its id. Throws `conflict` if the name is taken. */
export async function insertOwner(db: Database, owner: NewOwner): Promise<number> {
  const nowMs = Date.now()
  const [id] = await orConflict(`The name ${owner.name} is already taken.`, () =>
    db('owners').insert({
      kind: owner.kind,
      name: owner.name,
      name_lower: foldCase(owner.name),
      full_name: owner.fullName,
      description: owner.description,
      website: owner.website,
      location: owner.location,
      visibility: owner.visibility,
      created_at: nowMs,
      updated_at: nowMs,
    }),
  )
  if (id === undefined) throw new Error('The insert returned no id.')
  await removeOwnerRedirect(db, foldCase(owner.name))
  return id
}

/** Changes to an owner; absent fields keep their value. */
export interface OwnerPatch {
  readonly fullName?: string | undefined
  readonly description?: string | undefined
  readonly website?: string | undefined
  readonly location?: string | undefined
  readonly visibility?: Visibility | undefined
}

/** Updates the profile and the visibility of an owner. */
export async function updateOwner(db: Database, ownerId: number, patch: OwnerPatch): Promise<void> {
  const columns = presentColumns({
    full_name: patch.fullName,
    description: patch.description,
    website: patch.website,
    location: patch.location,
    visibility: patch.visibility,
  })
  if (Object.keys(columns).length === 0) return
  await db('owners')
    .where({ id: ownerId })
    .update({ ...columns, updated_at: Date.now() })
}

/** Returns the columns whose value is not undefined. */
export function presentColumns(
  columns: Readonly<Record<string, string | number | boolean | undefined>>,
): Record<string, string | number | boolean> {
  return Object.fromEntries(
    Object.entries(columns).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  )
}

/** Returns the user or organization with that name. Case is ignored. */
export async function findOwner(db: Database, name: string): Promise<Owner | undefined> {
  const [row] = await selectRows<OwnerRow>(db, SELECT_OWNER, [foldCase(name)])
  return row === undefined ? undefined : ownerOf(row)
}

/** Returns the owners with those ids by id; ids without an owner are left out. */
export async function findOwnersById(
  db: Database,
  ownerIds: Iterable<number>,
): Promise<ReadonlyMap<number, Owner>> {
  const wanted = [...new Set(ownerIds)]
  if (wanted.length === 0) return new Map()
  const rows = await selectRows<OwnerRow>(
    db,
    `select ${OWNER_COLUMNS} from owners o where o.id in (${wanted.map(() => '?').join()})`,
    wanted,
  )
  return new Map(rows.map((row) => [row.owner_id, ownerOf(row)]))
}

/** Columns of an owner, selected from a table with the alias `o`. */
export const OWNER_COLUMNS = `o.id as owner_id, o.kind as owner_kind, o.name as owner_name,
  o.full_name as owner_full_name, o.description as owner_description, o.website as owner_website,
  o.location as owner_location, o.visibility as owner_visibility, o.created_at as owner_created_at,
  (select a.hash from avatars a where a.owner_id = o.id) as owner_avatar_hash`

export interface OwnerRow {
  readonly owner_id: number
  readonly owner_kind: Owner['kind']
  readonly owner_name: string
  readonly owner_full_name: string
  readonly owner_description: string
  readonly owner_website: string
  readonly owner_location: string
  readonly owner_visibility: Visibility
  readonly owner_created_at: number
  readonly owner_avatar_hash: string | null
}

/** Converts a row of OWNER_COLUMNS. */
export function ownerOf(row: OwnerRow): Owner {
  return {
    id: row.owner_id,
    kind: row.owner_kind,
    name: row.owner_name,
    fullName: row.owner_full_name,
    description: row.owner_description,
    website: row.owner_website,
    location: row.owner_location,
    visibility: row.owner_visibility,
    avatarHash: row.owner_avatar_hash ?? undefined,
    createdAtMs: row.owner_created_at,
  }
}

export const SELECT_OWNER = `select ${OWNER_COLUMNS} from owners o where o.name_lower = ?`
