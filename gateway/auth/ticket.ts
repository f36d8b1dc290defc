/** Tickets of sign-ins between the password and the second factor. */

import { Failure } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import type { Settings } from '../../conf/settings.js'
import {
  closeTicket,
  findTicketUser,
  openTicket,
  takeTicketTry,
} from '../../sql/accounts/second-factors.js'
import type { User } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'
import { type Header, readCookie, setCookie } from './cookies.js'
import { hashToken, isTokenShaped, newToken } from './token.js'

/** Path below the base URL of the page for the second factor; browsers send tickets only there. */
export const TICKET_PATH = '/user/two-factor'

const COOKIE = 'gatehouse_ticket'
const LIFETIME_MS = 5 * 60_000
const TRIES = 5

export interface Ticket {
  readonly user: User
  /** Hash of the ticket, under which it is stored. */
  readonly hash: string
}

/** Creates a ticket for a user. Returns the header that sets its cookie. */
export async function beginTicket(
  { db, settings }: { readonly db: Database; readonly settings: Settings },
  user: User,
): Promise<Header> {
  const name = newToken()
  const expiresAtMs = Date.now() + LIFETIME_MS
  await openTicket(db, { hash: hashToken(name), userId: user.id, tries: TRIES, expiresAtMs })
  return cookie(settings, name, LIFETIME_MS / 1_000)
}

/** Returns the ticket of the request's cookie, or undefined if it is not valid. */
export async function findTicket(db: Database, request: Request): Promise<Ticket | undefined> {
  const hash = hashOf(request)
  const user = hash === undefined ? undefined : await findTicketUser(db, hash)
  return hash === undefined || user === undefined ? undefined : { hash, user }
}

/** Uses up one attempt of a ticket. Throws `sign_in_required` if the ticket is not valid. */
export async function useTicket(db: Database, request: Request): Promise<Ticket> {
  const hash = hashOf(request)
  const user = hash === undefined ? undefined : await takeTicketTry(db, hash)
  if (hash !== undefined && user !== undefined) return { hash, user }
  throw new Failure(
    'sign_in_required',
    'The sign-in took too long or had too many attempts: start again with your password.',
  )
}

/** Deletes the ticket. Returns the header that deletes its cookie. */
export async function endTicket(
  { db, settings }: { readonly db: Database; readonly settings: Settings },
  request: Request,
): Promise<Header> {
  const hash = hashOf(request)
  if (hash !== undefined) await closeTicket(db, hash)
  return cookie(settings, '', 0)
}

function hashOf(request: Request): string | undefined {
  const name = readCookie(request, COOKIE)
  return name !== undefined && isTokenShaped(name) ? hashToken(name) : undefined
}

function cookie(settings: Settings, value: string, ageSeconds: number): Header {
  return setCookie(settings, { name: COOKIE, value, ageSeconds, path: TICKET_PATH })
}
