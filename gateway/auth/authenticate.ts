/**
 * Authentication: turns a request's credentials into an Identity. Authorization is in authorize.ts.
 */

import { Failure, isFailure } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import { type JobPermissions, permissionsOf } from '../../conf/job-permissions.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
import { touchGrant } from '../../sql/accounts/oauth-grants.js'
import { findAccess } from '../../sql/accounts/oauth-tokens.js'
import type { TokenLimits } from '../../sql/accounts/token-limits.js'
import { findTokenWithUser, type Token, touchToken } from '../../sql/accounts/tokens.js'
import { findPassword, recordSignIn, type User } from '../../sql/accounts/users.js'
import type { Runner } from '../../sql/runners/runners.js'
import { findTaskCaller, type RunningTask } from '../../sql/runs/tasks.js'
import type { AddressSubject } from './artifact-address.js'
import { readCredentials } from './credentials.js'
import { isAccessShaped } from './oauth-secret.js'
import { checkPassword } from './password.js'
import { type FactorContext, hasSecondFactor, verifyCode } from './second-factor.js'
import type { SignInAttempt } from './throttle.js'
import { hashToken, isJobTokenShaped, isTokenShaped, isValidNow } from './token.js'
import { isCodeShaped } from './totp.js'

export type Identity =
  | { readonly kind: 'anonymous' }
  | SignedIn<'password', undefined>
  | SignedIn<'ssh-key', undefined>
  | SignedIn<'session', undefined>
  | SignedIn<'token', readonly string[]>
  /** A machine with a key for some repositories; it is not a user. */
  | {
      readonly kind: 'deploy-key'
      readonly keyId: number
      readonly ticket?: TicketUse | undefined
    }
  /** A job of a workflow, with the token of its task; it is not a user. */
  | {
      readonly kind: 'job'
      readonly taskId: number
      readonly repositoryId: number
      readonly permissions: JobPermissions
      readonly ticket?: TicketUse | undefined
    }
  /** A runner of workflow jobs, which only the routes for runners accept. */
  | { readonly kind: 'runner'; readonly runner: Runner }
  /** A running job with its runtime token, which only the routes for artifacts accept. */
  | { readonly kind: 'task'; readonly task: RunningTask }
  /** The holder of the signed address of an artifact, which only its route accepts. */
  | { readonly kind: 'address'; readonly address: AddressSubject }

/** A user and the kind of their credentials. Only tokens have scopes. */
interface SignedIn<By, Scopes> {
  readonly kind: 'user'
  readonly user: User
  readonly by: By
  readonly scopes: Scopes
  /** Restrictions of a token in addition to its scopes. */
  readonly limits?: TokenLimits | undefined
  /** Personal token of the caller; absent for other credentials. */
  readonly tokenId?: number
  /** Administrator who acts as the user. */
  readonly sudoBy?: string
  readonly ticket?: TicketUse | undefined
}

/** The only use that the caller's ticket of Git LFS permits; see `auth/lfs-ticket`. */
export interface TicketUse {
  readonly repositoryId: number
  /** An upload includes downloads. */
  readonly operation: 'download' | 'upload'
  readonly expiresAtMs: number
}

/** Returns the use that the caller's ticket permits; undefined for a caller without a ticket. */
export function ticketUseOf(who: Identity): TicketUse | undefined {
  return 'ticket' in who ? who.ticket : undefined
}

/** The parts of a request that identify its caller. */
export type Credentialed = Pick<Request, 'headers' | 'query' | 'address'>

/** Dependencies of authentication. */
export type AuthenticationContext = FactorContext

/** Message, in Gitea's words, for a call without the credentials that it needs. */
export const SIGN_IN_MESSAGE = 'Only signed in user is allowed to call APIs.'
const WRONG_MESSAGE = 'invalid username, password or token'

const RECORD_INTERVAL_MS = 60_000

/**
 * True if a time of last use was recorded less than a minute ago. Such times are only displayed, so
 * this precision suffices and saves many writes.
 */
export function wasRecordedRecently(lastMs: number | undefined, nowMs: number): boolean {
  return nowMs - (lastMs ?? 0) < RECORD_INTERVAL_MS
}

/** True if the account is permitted to sign in, with any kind of credentials. */
export function canSignIn(user: User): boolean {
  return user.isActive && !user.isLoginProhibited
}

export interface AuthenticationOptions {
  /** Reason for refusing all passwords; undefined accepts them. Tokens are accepted either way. */
  readonly passwordRefusal?: string | undefined
}

/** Identity of a caller without credentials. */
export const ANONYMOUS: Identity = { kind: 'anonymous' }

/**
 * Returns the caller of a request, synchronously if it has no credentials. Throws or rejects with
 * - `sign_in_required` for malformed credentials and for a token in the query,
 * - `bad_credentials` for wrong credentials, also if none were needed, and for a refused password,
 * - `throttled` if the address or the account has failed too often,
 * - `forbidden` for an account that may not sign in.
 */
export function authenticate(
  context: AuthenticationContext,
  request: Credentialed,
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

/** Returns the caller by a token of a user, an application or a job; undefined for other texts. */
function identifyAnyToken(
  context: AuthenticationContext,
  request: Credentialed,
  text: string,
): Awaitable<Identity> | undefined {
  if (isTokenShaped(text)) return identifyToken(context, request, text)
  if (isJobTokenShaped(text)) return identifyJob(context, text)
  return isAccessShaped(text) ? identifyAccess(context, text) : undefined
}

/** Returns the job of a token, which is valid while a runner works on the job. */
async function identifyJob(context: AuthenticationContext, text: string): Promise<Identity> {
  const task = await findTaskCaller(context.db, hashToken(text))
  if (task === undefined) throw new Failure('bad_credentials', WRONG_MESSAGE)
  const { taskId, repositoryId, declared, isFromFork, preferences } = task
  const isWriteDefault = preferences['actions_token_writes'] === true
  const permissions = permissionsOf({ declared, isWriteDefault, isFromFork })
  return { kind: 'job', taskId, repositoryId, permissions }
}

/** Returns the user of an application's access token, with the scopes that the user granted. */
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
 * Returns the user of a personal token. No password can look like a token, so an unknown or revoked
 * token costs no password hash and does not count as a failed attempt. A token that has expired or
 * is sent from an address outside its limits is refused like an unknown one.
 */
function identifyToken(
  context: AuthenticationContext,
  request: Credentialed,
  text: string,
): Awaitable<Identity> {
  return after(findTokenWithUser(context.db, hashToken(text)), (found) => {
    if (found === undefined || !isValidNow(found.token.limits, request, Date.now())) {
      throw new Failure('bad_credentials', WRONG_MESSAGE)
    }
    refuseClosedAccount(found.user)
    noteUse(context, found.token)
    const { scopes, limits } = found.token
    const tokenId = found.token.id
    return { kind: 'user', user: found.user, by: 'token', scopes, limits, tokenId }
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
  { address, headers }: Credentialed,
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
 * Returns the user with this name and password. The caller of this function checks for a second
 * factor. Throws like `authenticate`.
 */
export async function authenticateByPassword(
  context: AuthenticationContext,
  attempt: PasswordAttempt,
): Promise<User> {
  await context.throttle.check(attempt)
  const found = await findPassword(context.db, attempt.name)
  const isRight = await checkPassword(found?.passwordHash, attempt.password)
  // Concurrent attempts all pass the first check. The second one hides the result from those for
  // which the limit has been reached meanwhile.
  await context.throttle.check(attempt)
  if (found === undefined || !isRight) {
    await context.throttle.failed(attempt)
    // An unknown name is not logged, because it may be a password or token in the wrong field.
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
  /** Password, or a code of the second factor. */
  readonly text: string
  readonly address: string
}

/** Confirms a user who already has a session. Throws `bad_credentials` for a wrong proof. */
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
    throw new Failure('bad_credentials', 'That is neither your password nor a valid code.')
  }
}

/** Records a sign-in, after every factor that the account needs was verified. */
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
