/** User accounts, with their passwords and sign-ins. */

import { Failure } from '../../conf/failures.js'
import { checkText, foldCase } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation, orConflict } from '../database/errors.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import { deleteEmptyPackages } from '../packages/packages.js'
import { JOBS_USER_ID } from './jobs-user.js'
import { insertOwner, OWNER_COLUMNS, type Owner, type OwnerRow, ownerOf } from './owners.js'

export interface User extends Owner {
  readonly kind: 'user'
  /** Primary address; empty if there is none. */
  readonly email: string
  readonly isAdmin: boolean
  readonly isActive: boolean
  readonly isLoginProhibited: boolean
  readonly language: string
  readonly lastLoginAtMs: number | undefined
}

export interface NewUser {
  readonly name: string
  readonly email: string
  /** Argon2 hash; undefined for a user without a password. */
  readonly passwordHash: string | undefined
  readonly isAdmin: boolean
  readonly fullName?: string
}

/** Creates a user. Throws `conflict` if the name or the e-mail address is taken. */
export async function createUser(db: Database, user: NewUser): Promise<User> {
  return await transaction(db, async (trx) => {
    const id = await insertOwner(trx, {
      kind: 'user',
      name: user.name,
      fullName: user.fullName ?? '',
      description: '',
      website: '',
      location: '',
      visibility: 'public',
    })
    await trx('users').insert({
      owner_id: id,
      password_hash: user.passwordHash ?? null,
      is_admin: user.isAdmin,
      is_active: true,
      is_login_prohibited: false,
      must_change_password: false,
      language: '',
      last_login_at: null,
    })
    await orConflict(`The e-mail address ${user.email} is already used.`, () =>
      trx('emails').insert({
        user_id: id,
        address: user.email,
        address_lower: foldCase(user.email),
        is_primary: true,
        is_verified: true,
      }),
    )
    const created = await findUser(trx, user.name)
    if (created === undefined) throw new Error('The inserted user was not found.')
    return created
  })
}

/** Returns the user with that name. Case is ignored. */
export async function findUser(db: Database, name: string): Promise<User | undefined> {
  const [row] = await selectRows<UserRow>(db, `${SELECT_USERS} where o.name_lower = ?`, [
    foldCase(name),
  ])
  return row === undefined ? undefined : userOf(row)
}

/** Returns the user with that id. */
export async function findUserById(db: Database, userId: number): Promise<User | undefined> {
  const [row] = await selectRows<UserRow>(db, `${SELECT_USERS} where u.owner_id = ?`, [userId])
  return row === undefined ? undefined : userOf(row)
}

export interface Password {
  readonly user: User
  readonly passwordHash: string | undefined
}

/** Returns a user and the password hash, by name or by a verified address. */
export async function findPassword(
  db: Database,
  nameOrEmail: string,
): Promise<Password | undefined> {
  const key = foldCase(nameOrEmail)
  // No name contains an @, so a name cannot be the address of another user.
  const condition = key.includes('@')
    ? 'o.id = (select user_id from emails where address_lower = ? and is_verified = 1)'
    : 'o.name_lower = ?'
  const [row] = await selectRows<UserRow & { readonly password_hash: string | null }>(
    db,
    `select ${USER_COLUMNS}, u.password_hash from ${USER_TABLES} where ${condition}`,
    [key],
  )
  if (row === undefined) return undefined
  return { user: userOf(row), passwordHash: row.password_hash ?? undefined }
}

/**
 * Replaces the password of a user, and deletes all sessions and unfinished sign-ins of the user.
 */
export async function setPassword(
  db: Database,
  userId: number,
  passwordHash: string,
): Promise<void> {
  await transaction(db, async (trx) => {
    await trx('users')
      .where({ owner_id: userId })
      .update({ password_hash: checkText(passwordHash), must_change_password: false })
    await trx('sessions').where({ user_id: userId }).delete()
    await trx('sign_in_tickets').where({ user_id: userId }).delete()
  })
}

/** Sets the time when a user last signed in. */
export async function recordSignIn(db: Database, userId: number, nowMs: number): Promise<void> {
  await db('users').where({ owner_id: userId }).update({ last_login_at: nowMs })
}

/** Returns all users but the account of jobs, oldest account first. */
export async function listUsers(db: Database, page: Page): Promise<Paged<User>> {
  const [count] = await selectRows<{ total: number }>(
    db,
    'select count(*) as total from users u where u.owner_id > 0',
  )
  const rows = await selectRows<UserRow>(
    db,
    `${SELECT_USERS} where o.id > 0 order by o.id limit ? offset ?`,
    [page.limit, offsetOf(page)],
  )
  return { entries: rows.map(userOf), total: count?.total ?? 0 }
}

/**
 * Deletes a user with all addresses, tokens, memberships and collaborations. Returns false if there
 * is no such user. Throws `conflict` if the user owns repositories or packages, and for the account
 * of jobs.
 */
export async function deleteUser(db: Database, userId: number): Promise<boolean> {
  if (userId === JOBS_USER_ID) {
    throw new Failure('conflict', 'The account of workflow jobs cannot be deleted.')
  }
  try {
    return await transaction(db, async (trx) => {
      await deleteEmptyPackages(trx, userId)
      return (await trx('owners').where({ id: userId, kind: 'user' }).delete()) > 0
    })
  } catch (error) {
    if (!isReferenceViolation(error)) throw error
    throw new Failure('conflict', 'The user still owns repositories or packages.', { cause: error })
  }
}

/** Columns of a user, selected from USER_TABLES. */
export const USER_COLUMNS = `${OWNER_COLUMNS},
  u.is_admin as user_is_admin, u.is_active as user_is_active,
  u.is_login_prohibited as user_is_login_prohibited, u.language as user_language,
  u.last_login_at as user_last_login_at, e.address as user_email`

/** Tables of a user; `users` has the alias `u`. */
export const USER_TABLES = `users u join owners o on o.id = u.owner_id
  left join emails e on e.user_id = u.owner_id and e.is_primary = 1`

const SELECT_USERS = `select ${USER_COLUMNS} from ${USER_TABLES}`

export interface UserRow extends OwnerRow {
  readonly user_is_admin: number
  readonly user_is_active: number
  readonly user_is_login_prohibited: number
  readonly user_language: string
  readonly user_last_login_at: number | null
  readonly user_email: string | null
}

/** Converts a row of USER_COLUMNS. */
export function userOf(row: UserRow): User {
  // Runs on each request with credentials: spreading the owner would take thirty times as long.
  return Object.assign(ownerOf(row), {
    kind: 'user' as const,
    email: row.user_email ?? '',
    isAdmin: row.user_is_admin === 1,
    isActive: row.user_is_active === 1,
    isLoginProhibited: row.user_is_login_prohibited === 1,
    language: row.user_language,
    lastLoginAtMs: row.user_last_login_at ?? undefined,
  })
}
