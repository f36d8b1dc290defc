/** Sessions of browsers: created at sign-in, stored as a hash, and identified by a cookie. */

import { Failure } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import type { Settings } from '../../conf/settings.js'
import {
  createSession,
  deleteSession,
  findSessionWithUser,
  touchSession,
} from '../../sql/accounts/sessions.js'
import type { User } from '../../sql/accounts/users.js'
import {
  ANONYMOUS,
  type AuthenticationContext,
  canSignIn,
  type Identity,
  wasRecordedRecently,
} from './authenticate.js'
import { type Header, readCookie, setCookie } from './cookies.js'
import { hashToken, isTokenShaped, newToken } from './token.js'

const COOKIE = 'gatehouse_session'
const LIFETIME_MS = 30 * 86_400_000
const AGENT_CHARACTERS_MAX = 255

/**
 * Returns the caller of a request by its session cookie; anonymous if there is no session, if it
 * has ended, or if its account may not sign in.
 */
export async function identifySession(
  context: AuthenticationContext,
  request: Request,
): Promise<Identity> {
  const found = await findOwnSession(context, request)
  if (found === undefined || !canSignIn(found.user)) return ANONYMOUS
  const { session, user } = found
  const nowMs = Date.now()
  if (!wasRecordedRecently(session.lastUsedAtMs, nowMs)) {
    touchSession(context.db, session.id, nowMs).catch((error: unknown) => {
      context.log.warn({ error }, 'the last use of a session was not recorded')
    })
  }
  return { kind: 'user', user, by: 'session', scopes: undefined }
}

/**
 * Ends the browser's session, if any, and starts one with a new random name. Returns the header
 * that sets its cookie.
 */
export async function beginSession(
  { db, settings }: Pick<AuthenticationContext, 'db' | 'settings'>,
  request: Request,
  user: User,
): Promise<Header> {
  const name = newToken()
  const agent = request.headers.get('user-agent') ?? ''
  await endSession({ db }, request)
  await createSession(db, {
    userId: user.id,
    hash: hashToken(name),
    address: request.address,
    agent: agent.replace(/[^\u0020-\u007e]/g, '').slice(0, AGENT_CHARACTERS_MAX),
    expiresAtMs: Date.now() + LIFETIME_MS,
  })
  return cookie(settings, name, LIFETIME_MS / 1_000)
}

/** Ends the session of the request's cookie, if any. */
export async function endSession(
  context: Pick<AuthenticationContext, 'db'>,
  request: Request,
): Promise<void> {
  const found = await findOwnSession(context, request)
  if (found !== undefined) await deleteSession(context.db, found.user.id, found.session.id)
}

/** Returns the header that deletes the session cookie. */
export function forgetSession(settings: Settings): Header {
  return cookie(settings, '', 0)
}

/**
 * Throws `forbidden` if the browser reports that a page of another site sent the request: a form
 * there would act with the session of the user who views it. Other clients send no such headers.
 */
export function refuseForeignOrigin(request: Request, settings: Settings): void {
  const site = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  if (site === 'same-origin' || site === 'none') return
  if (site === undefined && (origin === undefined || isOwn(origin, request, settings))) return
  throw new Failure(
    'forbidden',
    `Another site (${origin ?? 'unnamed'}) sent this form. ` +
      `Open ${settings.http.baseUrl} itself and try again.`,
  )
}

/**
 * True if the header Origin names this server, by the base URL or by the header Host. Browsers
 * without Sec-Fetch-Site send it.
 */
function isOwn(origin: string, { headers }: Request, { http }: Settings): boolean {
  if (!URL.canParse(origin)) return false
  const { host } = new URL(origin)
  return origin === new URL(http.baseUrl).origin || host === headers.get('host')
}

/** Returns the session of the request's cookie and its user; undefined if it has ended. */
export async function findOwnSession({ db }: Pick<AuthenticationContext, 'db'>, request: Request) {
  const name = readCookie(request, COOKIE)
  if (name === undefined || !isTokenShaped(name)) return undefined
  return await findSessionWithUser(db, hashToken(name))
}

function cookie(settings: Settings, value: string, ageSeconds: number): Header {
  return setCookie(settings, { name: COOKIE, value, ageSeconds })
}
