/** Sessions of browsers: made at sign-in, kept as a hash, named by a cookie that is sent back. */

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
 * Who sent the request, by its cookie: a stranger where there is none, where it has ended, or where
 * its account is closed.
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

/** Begins a session with a name that nobody has known before. Returns the header that says it. */
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

/** Ends the session that the request came with, if any. */
export async function endSession(
  context: Pick<AuthenticationContext, 'db'>,
  request: Request,
): Promise<void> {
  const found = await findOwnSession(context, request)
  if (found !== undefined) await deleteSession(context.db, found.user.id, found.session.id)
}

/** The header that makes a browser forget its session. */
export function forgetSession(settings: Settings): Header {
  return cookie(settings, '', 0)
}

/**
 * Throws `forbidden` where a browser says that another site's page sends the request: a form there
 * would act with the session of who looks at it. What is no browser says nothing of the kind.
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

/** A browser that does not say it in a word names the site; behind a proxy, by our own address. */
function isOwn(origin: string, { headers }: Request, { http }: Settings): boolean {
  if (!URL.canParse(origin)) return false
  const { host } = new URL(origin)
  return origin === new URL(http.baseUrl).origin || host === headers.get('host')
}

/** The session that the request came with, and whose it is, unless it has ended. */
export async function findOwnSession({ db }: Pick<AuthenticationContext, 'db'>, request: Request) {
  const name = readCookie(request, COOKIE)
  if (name === undefined || !isTokenShaped(name)) return undefined
  return await findSessionWithUser(db, hashToken(name))
}

function cookie(settings: Settings, value: string, ageSeconds: number): Header {
  return setCookie(settings, { name: COOKIE, value, ageSeconds })
}
