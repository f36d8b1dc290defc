/** Second factors: sealed secrets, recovery codes, and sign-ins that wait for a code. */

import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { orConflict } from '../database/errors.js'
import { USER_COLUMNS, USER_TABLES, type User, type UserRow, userOf } from './users.js'

export interface SecondFactor {
  readonly secretSealed: string
  /** Time from which sign-ins need a code; undefined until a first code was accepted. */
  readonly enrolledAtMs: number | undefined
  readonly recoveryCodesLeft: number
}

/** Returns the second factor of a user, enrolled or only offered. */
export async function findSecondFactor(
  db: Database,
  userId: number,
): Promise<SecondFactor | undefined> {
  const [row] = await selectRows<{
    readonly secret_sealed: string
    readonly enrolled_at: number | null
    readonly left_count: number
  }>(
    db,
    `select secret_sealed, enrolled_at,
        (select count(*) from recovery_codes r where r.user_id = f.user_id) as left_count
      from second_factors f where user_id = ?`,
    [userId],
  )
  return (
    row && {
      secretSealed: row.secret_sealed,
      enrolledAtMs: row.enrolled_at ?? undefined,
      recoveryCodesLeft: row.left_count,
    }
  )
}

/**
 * Stores a secret until its first code arrives, replacing one that waits already. Throws `conflict`
 * if the user has an enrolled second factor.
 */
export async function offerSecondFactor(
  db: Database,
  userId: number,
  secretSealed: string,
): Promise<void> {
  await orConflict('This account has a second factor already: disable it first.', () =>
    transaction(db, async (trx) => {
      await trx('second_factors').where({ user_id: userId }).whereNull('enrolled_at').delete()
      await trx('second_factors').insert({
        user_id: userId,
        secret_sealed: checkText(secretSealed),
        last_step: 0,
      })
    }),
  )
}

export interface Enrolment {
  /** Secret that was stored by `offerSecondFactor`. */
  readonly secretSealed: string
  /** Time step of the first code (RFC 6238). */
  readonly step: number
  /** SHA-256 of each recovery code, in lower-case hexadecimal. */
  readonly codeHashes: readonly string[]
}

/**
 * Enrols the offered secret, replaces the recovery codes and deletes the user's sessions. Returns
 * false if that secret is not the one that waits for its first code.
 */
export async function enrolSecondFactor(
  db: Database,
  userId: number,
  { secretSealed, step, codeHashes }: Enrolment,
): Promise<boolean> {
  return await transaction(db, async (trx) => {
    const enrolled = await trx('second_factors')
      .where({ user_id: userId, secret_sealed: checkText(secretSealed) })
      .whereNull('enrolled_at')
      .update({ enrolled_at: Date.now(), last_step: step })
    if (enrolled === 0) return false
    await replaceRecoveryCodes(trx, userId, codeHashes)
    await trx('sessions').where({ user_id: userId }).delete()
    return true
  })
}

/**
 * Accepts a code by its time step. Returns false if a code of this or a later step was accepted.
 */
export async function acceptStep(db: Database, userId: number, step: number): Promise<boolean> {
  const accepted = await db('second_factors')
    .where({ user_id: userId })
    .whereNotNull('enrolled_at')
    .andWhere('last_step', '<', step)
    .update({ last_step: step })
  return accepted > 0
}

/** Deletes a recovery code of the user. Returns false if the user has no such code. */
export async function acceptRecoveryCode(
  db: Database,
  userId: number,
  hash: string,
): Promise<boolean> {
  const where = { user_id: userId, hash: checkText(hash) }
  return (await db('recovery_codes').where(where).delete()) > 0
}

/** Replaces all recovery codes of a user who has a second factor. */
export async function replaceRecoveryCodes(
  db: Database,
  userId: number,
  hashes: readonly string[],
): Promise<void> {
  await transaction(db, async (trx) => {
    await trx('recovery_codes').where({ user_id: userId }).delete()
    await trx('recovery_codes').insert(hashes.map((hash) => ({ user_id: userId, hash })))
  })
}

/** Deletes the second factor of a user. Returns false if there was none. */
export async function removeSecondFactor(db: Database, userId: number): Promise<boolean> {
  return (await db('second_factors').where({ user_id: userId }).delete()) > 0
}

export interface SignInTicket {
  /** SHA-256 of the ticket that the browser keeps, in lower-case hexadecimal. */
  readonly hash: string
  readonly userId: number
  readonly tries: number
  readonly expiresAtMs: number
}

/** Stores that a browser has sent the correct password of a user. */
export async function openTicket(db: Database, ticket: SignInTicket): Promise<void> {
  await db('sign_in_tickets').insert({
    hash: ticket.hash,
    user_id: ticket.userId,
    tries_left: ticket.tries,
    expires_at: ticket.expiresAtMs,
  })
}

/** Returns the user of a sign-in that waits for a code and has tries left. */
export async function findTicketUser(db: Database, hash: string): Promise<User | undefined> {
  return await ticketUser(db, hash, 1)
}

/** Uses one try of a sign-in and returns its user; undefined if no try was left. */
export async function takeTicketTry(db: Database, hash: string): Promise<User | undefined> {
  const taken = await db('sign_in_tickets')
    .where({ hash: checkText(hash) })
    .andWhere('tries_left', '>', 0)
    .andWhere('expires_at', '>', Date.now())
    .decrement('tries_left', 1)
  return taken > 0 ? await ticketUser(db, hash, 0) : undefined
}

/** Deletes a sign-in that waits for a code. */
export async function closeTicket(db: Database, hash: string): Promise<void> {
  await db('sign_in_tickets')
    .where({ hash: checkText(hash) })
    .delete()
}

/** Deletes tickets that expired before that time. Returns their number. */
export async function removeExpiredTickets(db: Database, beforeMs: number): Promise<number> {
  return await db('sign_in_tickets').where('expires_at', '<', beforeMs).delete()
}

async function ticketUser(db: Database, hash: string, triesMin: number): Promise<User | undefined> {
  const [row] = await selectRows<UserRow>(
    db,
    `select ${USER_COLUMNS} from ${USER_TABLES} join sign_in_tickets s on s.user_id = u.owner_id
      where s.hash = ? and s.tries_left >= ? and s.expires_at > ?`,
    [checkText(hash), triesMin, Date.now()],
  )
  return row && userOf(row)
}
