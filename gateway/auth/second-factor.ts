/** Second factor of an account (TOTP and recovery codes): enrolment, and verification of codes. */

import { randomBytes } from 'node:crypto'
import { Failure } from '../../conf/failures.js'
import { openInstanceSecret } from '../../conf/instance-secret.js'
import type { Log } from '../../conf/log.js'
import { SEAL_CONTEXTS } from '../../conf/seal-contexts.js'
import type { Settings } from '../../conf/settings.js'
import {
  acceptRecoveryCode,
  acceptStep,
  enrolSecondFactor,
  findSecondFactor,
  offerSecondFactor,
  removeSecondFactor,
  replaceRecoveryCodes,
} from '../../sql/accounts/second-factors.js'
import type { User } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'
import type { Throttle } from './throttle.js'
import { hashToken } from './token.js'
import { isCodeShaped, matchingStep, newSecret } from './totp.js'

export interface FactorContext {
  readonly db: Database
  readonly settings: Settings
  readonly throttle: Throttle
  readonly log: Log
}

export interface CodeAttempt {
  readonly user: User
  /** Code of an authenticator app, or a recovery code. */
  readonly code: string
  readonly address: string
}

const WRONG_CODE = 'That code is wrong, or was used before. Each code can be used once.'

/** True if signing in to the account needs more than its password. */
export async function hasSecondFactor(db: Database, userId: number): Promise<boolean> {
  return (await findSecondFactor(db, userId))?.enrolledAtMs !== undefined
}

/** Verifies and uses up a code. Throws `bad_credentials`, and after too many ones `throttled`. */
export async function verifyCode(context: FactorContext, attempt: CodeAttempt): Promise<void> {
  const { user, address } = attempt
  await context.throttle.attempt({ name: user.name, address }, async () => {
    if (await takeCode(context, user, attempt.code.replace(/[\s-]/g, ''))) return
    context.log.warn({ event: 'sign-in-failed', address, name: user.name }, 'a code was wrong')
    throw new Failure('bad_credentials', WRONG_CODE)
  })
}

async function takeCode(context: FactorContext, user: User, code: string): Promise<boolean> {
  if (!isCodeShaped(code)) {
    return await acceptRecoveryCode(context.db, user.id, hashToken(code.toLowerCase()))
  }
  const factor = await findSecondFactor(context.db, user.id)
  if (factor === undefined) return false
  const secret = await unseal(context, user, factor.secretSealed)
  const step = matchingStep(secret, code, Date.now())
  return step !== undefined && (await acceptStep(context.db, user.id, step))
}

/**
 * Creates a secret for an account, which is enrolled with its first code. Throws `conflict` if the
 * account has a second factor.
 */
export async function beginEnrolment(
  { db, settings }: Pick<FactorContext, 'db' | 'settings'>,
  user: User,
): Promise<void> {
  const instance = await openInstanceSecret(settings.data.dir)
  await offerSecondFactor(
    db,
    user.id,
    instance.seal(newSecret(), SEAL_CONTEXTS.secondFactor(user.id)),
  )
}

/** Returns the secret that waits for its first code, or undefined. */
export async function waitingSecret(
  context: Pick<FactorContext, 'db' | 'settings'>,
  user: User,
): Promise<string | undefined> {
  const factor = await findSecondFactor(context.db, user.id)
  if (factor === undefined || factor.enrolledAtMs !== undefined) return undefined
  return await unseal(context, user, factor.secretSealed)
}

/**
 * Enrols the waiting secret with its first code, and ends all sessions of the account. Returns the
 * recovery codes, which must be shown once. Throws `invalid` for a wrong code, and `conflict` if no
 * secret waits for its first code.
 */
export async function confirmEnrolment(
  context: FactorContext,
  { user, code }: Pick<CodeAttempt, 'user' | 'code'>,
): Promise<readonly string[]> {
  const factor = await findSecondFactor(context.db, user.id)
  if (factor === undefined || factor.enrolledAtMs !== undefined) throw notWaiting()
  const { secretSealed } = factor
  const secret = await unseal(context, user, secretSealed)
  const step = matchingStep(secret, code.replace(/\s/g, ''), Date.now())
  if (step === undefined) {
    const message = 'That is not the current code of this secret. Check the clocks of both devices.'
    throw new Failure('invalid', message)
  }
  const codes = newRecoveryCodes()
  const codeHashes = codes.map(hashOf)
  if (!(await enrolSecondFactor(context.db, user.id, { secretSealed, step, codeHashes }))) {
    throw notWaiting()
  }
  context.log.info({ event: 'second-factor-on', name: user.name }, 'a second factor was enrolled')
  return codes
}

/**
 * Replaces the recovery codes of an account. Returns the new ones, which must be shown once. Throws
 * `conflict` if the account has no second factor.
 */
export async function renewRecoveryCodes(db: Database, user: User): Promise<readonly string[]> {
  if (!(await hasSecondFactor(db, user.id))) throw notWaiting()
  const codes = newRecoveryCodes()
  await replaceRecoveryCodes(db, user.id, codes.map(hashOf))
  return codes
}

/** Removes the second factor of an account, which then signs in with its password alone. */
export async function switchOff({ db, log }: FactorContext, user: User): Promise<void> {
  if (!(await removeSecondFactor(db, user.id))) return
  log.info({ event: 'second-factor-off', name: user.name }, 'a second factor was removed')
}

function notWaiting(): Failure {
  return new Failure('conflict', 'The second factor was changed meanwhile: reload the page.')
}

const RECOVERY_CODES = 10

/** Returns codes of 80 random bits each, which cannot be guessed even from a fast hash. */
function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    randomBytes(10)
      .toString('hex')
      .replace(/.{5}(?=.)/g, '$&-'),
  )
}

function hashOf(code: string): string {
  return hashToken(code.replaceAll('-', ''))
}

async function unseal(
  { settings }: Pick<FactorContext, 'settings'>,
  user: User,
  sealed: string,
): Promise<string> {
  const instance = await openInstanceSecret(settings.data.dir)
  try {
    return instance.unseal(sealed, SEAL_CONTEXTS.secondFactor(user.id))
  } catch (cause) {
    throw new Error(`The second factor of ${user.name} was sealed with another secret.key.`, {
      cause,
    })
  }
}
