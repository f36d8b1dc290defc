/** Second factors of test users, and the codes that their apps show. */

import { openInstanceSecret } from '../../conf/instance-secret.js'
import type { Settings } from '../../conf/settings.js'
import { hashToken } from '../../gateway/auth/token.js'
import { codeOf, newSecret, stepAt } from '../../gateway/auth/totp.js'
import { enrolSecondFactor, offerSecondFactor } from '../../sql/accounts/second-factors.js'
import type { User } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'

export interface AppOfFactor {
  readonly secret: string
  /** Returns the code of the current time step, or of a later one. */
  code(stepsLater?: number): string
}

/** Returns an app with this secret. */
export function appOf(secret: string): AppOfFactor {
  return { secret, code: (stepsLater = 0) => codeOf(secret, stepAt(Date.now()) + stepsLater) }
}

/** Enrols a second factor without used codes and with one recovery code. */
export async function enrol(
  { db, settings }: { readonly db: Database; readonly settings: Settings },
  user: User,
  recoveryCode = '0123456789abcdef0123',
): Promise<AppOfFactor> {
  const secret = newSecret()
  const instance = await openInstanceSecret(settings.data.dir)
  const secretSealed = instance.seal(secret, `second factor of the user ${user.id}`)
  await offerSecondFactor(db, user.id, secretSealed)
  await enrolSecondFactor(db, user.id, {
    secretSealed,
    step: 0,
    codeHashes: [hashToken(recoveryCode)],
  })
  return appOf(secret)
}
