/** Says who asks, from the credentials of a request; whether they may is the gate's to say. */

import { type Awaitable, after } from '../../conf/awaitable.js'
import { Failure, isFailure } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import { touchGrant } from '../../sql/accounts/oauth-grants.js'
import { findAccess } from '../../sql/accounts/oauth-tokens.js'
import type { TokenLimits } from '../../sql/accounts/token-limits.js'
import { findTokenWithUser, type Token, touchToken } from '../../sql/accounts/tokens.js'
import { findPassword, recordSignIn, type User } from '../../sql/accounts/users.js'
import { readCredentials } from './credentials.js'
import { isAccessShaped } from './oauth-secret.js'
import { checkPassword } from './password.js'
import { type FactorContext, hasSecondFactor, verifyCode } from './second-factor.js'
import type { SignInAttempt } from './throttle.js'
import { hashToken, isTokenShaped, isValidNow } from './token.js'
import { isCodeShaped } from './totp.js'

export type Identity =
  | { readonly kind: 'anonymous' }
  | SignedIn<'password', undefined>
  | SignedIn<'ssh-key', undefined>
  | SignedIn<'session', undefined>
  | SignedIn<'token', readonly string[]>
  /** A machine with a key for some repositories, which is no user. */
  | { readonly kind: 'deploy-key'; readonly keyId: number }

/** A user, and how they have shown that they are; scopes limit a token alone. */
interface SignedIn<By, Scopes> {
  readonly kind: 'user'
  readonly user: User
  readonly by: By
  readonly scopes: Scopes
  /** What limits a token beside them. */
  readonly limits?: TokenLimits | undefined
}

/** What it takes to say who asks. */
export type AuthenticationContext = FactorContext

/** What every call says that needs a token and has none, or one that is malformed. */
export const SIGN_IN_MESSAGE = 'Only signed in user is allowed to call APIs.'
const WRONG_MESSAGE = 'invalid username, password or token'

const NOTED_EVERY_MS = 60_000

/** Times of last use are for people to read: to the minute will do, and spares many writes. */
export function wasRecordedRecently(lastMs: number | undefined, nowMs: number): boolean {
  return nowMs - (lastMs ?? 0) < NOTED_EVERY_MS
}

/** Whether the account is open, whatever it signs in with. */
export function canSignIn(user: User): boolean {
  return user.isActive && !user.isLoginProhibited
}

export interface AuthenticationOptions {
  /** Why passwords are not accepted, whether they are right or wrong. Tokens still are. */
  readonly passwordRefusal?: string | undefined
}

/** Somebody who gave no credentials. */
export const ANONYMOUS: Identity = { kind: 'anonymous' }

/**
 * Who sent the request; at once where nobody says. Throws or rejects with `sign_in_required` for
 * malformed credentials and for a token in the query, `bad_credentials` for wrong ones (also where
 * none were needed) and for a password where none is accepted, `throttled` when the address or
 * account has failed too often, `forbidden` for an account that may not sign in.
 */
export function authenticate(
  context: AuthenticationContext,
  request: Request,
  { passwordRefusal }: AuthenticationOptions = {},
): Awaitable<Identity> {
  if (request.query !== '' && /(?:^|&)(?:access_)?token=/.test(request.query)) {
    throw new Failure('sign_in_required', SIGN_IN_MESSAGE)
  }
  const credentials = readCredentials(request.headers.get('authorization'))
  switch (credentials.kind) {
    case 'none':
      return ANONYMOUS
    case 'malformed':
      throw new Failure('sign_in_required', SIGN_IN_MESSAGE)
    case 'token': {
      const known = identifyAnyToken(context, request, credentials.token)
      if (known === undefined) throw new Failure('sign_in_required', SIGN_IN_MESSAGE)
      return known
    }
    case 'password': {
      const known = identifyAnyToken(context, request, credentials.password)
      if (known !== undefined) return known
      if (passwordRefusal !== undefined) throw new Failure('bad_credentials', passwordRefusal)
      return identifyPassword(context, credentials, request)
    }
  }
}

/** Undefined for a text that can be no token, whoever made it. */
function identifyAnyToken(
  context: AuthenticationContext,
  request: Request,
  text: string,
): Awaitable<Identity> | undefined {
  if (isTokenShaped(text)) return identifyToken(context, request, text)
  return isAccessShaped(text) ? identifyAccess(context, text) : undefined
}

/** Whose application it is that asks, within what they let it do. */
async function identifyAccess(context: AuthenticationContext, text: string): Promise<Identity> {
  const found = await findAccess(context.db, hashToken(text))
  if (found === undefined) throw new Failure('bad_credentials', WRONG_MESSAGE)
  const { id, user, scopes, lastUsedAtMs } = found.grant
  refuseClosedAccount(user)
  const now = Date.now()
  if (!wasRecordedRecently(lastUsedAtMs, now)) {
    touchGrant(context.db, id, now).catch((error: unknown) => {
      context.log.warn({ error, grantId: id }, 'the last use of a grant was not recorded')
    })
  }
  return { kind: 'user', user, by: 'token', scopes }
}

/**
 * No password looks like a token, so a revoked one neither costs a hash nor counts as a guess. One
 * that has ended, or comes from elsewhere, is as one that nobody knows.
 */
function identifyToken(
  context: AuthenticationContext,
  request: Request,
  text: string,
): Awaitable<Identity> {
  return after(findTokenWithUser(context.db, hashToken(text)), (found) => {
    if (found === undefined || !isValidNow(found.token.limits, request, Date.now())) {
      throw new Failure('bad_credentials', WRONG_MESSAGE)
    }
    refuseClosedAccount(found.user)
    noteUse(context, found.token)
    const { scopes, limits } = found.token
    return { kind: 'user', user: found.user, by: 'token', scopes, limits }
  })
}

function noteUse(context: AuthenticationContext, token: Token): void {
  const now = Date.now()
  if (wasRecordedRecently(token.lastUsedAtMs, now)) return
  touchToken(context.db, token.id, now).catch((error: unknown) => {
    context.log.warn({ error, tokenId: token.id }, 'the last use of a token was not recorded')
  })
}

const FACTOR_MESSAGE =
  'This account has a second factor: use an access token in place of the password, ' +
  'or send a code in the header X-Gitea-OTP.'

async function identifyPassword(
  context: AuthenticationContext,
  { name, password }: Omit<PasswordAttempt, 'address'>,
  { address, headers }: Request,
): Promise<SignedIn<'password', undefined>> {
  const attempt = { name, password, address }
  const user = await authenticateByPassword(context, attempt)
  if (await hasSecondFactor(context.db, user.id)) {
    const code = headers.get('x-gitea-otp')
    if (code === undefined) throw new Failure('bad_credentials', FACTOR_MESSAGE)
    await verifyCode(context, { user, code, address })
  }
  await completeSignIn(context, attempt, user)
  return { kind: 'user', user, by: 'password', scopes: undefined }
}

export interface PasswordAttempt {
  readonly name: string
  readonly password: string
  readonly address: string
}

/**
 * Whose name and password these are; whether that is enough is for the caller to ask. Throws as
 * `identify` does.
 */
export async function authenticateByPassword(
  context: AuthenticationContext,
  attempt: PasswordAttempt,
): Promise<User> {
  await context.throttle.check(attempt)
  const found = await findPassword(context.db, attempt.name)
  const isRight = await checkPassword(found?.passwordHash, attempt.password)
  // Guesses that came together passed the first look together: only the first of them learn more.
  await context.throttle.check(attempt)
  if (found === undefined || !isRight) {
    await context.throttle.failed(attempt)
    // A name that is nobody's may be a password or a token in the wrong place.
    context.log.warn(
      { event: 'sign-in-failed', address: attempt.address, name: found?.user.name },
      'a sign-in failed',
    )
    throw new Failure('bad_credentials', WRONG_MESSAGE)
  }
  refuseClosedAccount(found.user)
  return found.user
}

export interface Proof {
  readonly user: User
  /** The password, or a code of the second factor. */
  readonly text: string
  readonly address: string
}

/** Throws `bad_credentials` unless who has a session of the user shows more than that. */
export async function reauthenticate(
  context: AuthenticationContext,
  { user, text, address }: Proof,
): Promise<void> {
  try {
    const code = text.replace(/\s/g, '')
    if (isCodeShaped(code)) await verifyCode(context, { user, code, address })
    else await authenticateByPassword(context, { name: user.name, password: text, address })
  } catch (error) {
    if (!isFailure(error, 'bad_credentials')) throw error
    throw new Failure('bad_credentials', 'That is neither your password nor a code that counts.')
  }
}

/** Remembers that somebody has signed in, with all that the account asks for. */
export async function completeSignIn(
  context: AuthenticationContext,
  attempt: SignInAttempt,
  user: User,
): Promise<void> {
  await context.throttle.succeeded(attempt)
  const now = Date.now()
  if (!wasRecordedRecently(user.lastLoginAtMs, now)) await recordSignIn(context.db, user.id, now)
}

function refuseClosedAccount(user: User): void {
  if (canSignIn(user)) return
  throw new Failure(
    'forbidden',
    'This account is prohibited from signing in, please contact your site administrator.',
  )
}
