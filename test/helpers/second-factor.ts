/** A second factor that is in use, and the codes that its app shows. */

import { openInstanceSecret } from '../../conf/instance-secret.js'
import type { Settings } from '../../conf/settings.js'
import { hashToken } from '../../gateway/auth/token.js'
import { codeOf, newSecret, stepAt } from '../../gateway/auth/totp.js'
import { enrolSecondFactor, offerSecondFactor } from '../../sql/accounts/second-factors.js'
import type { User } from '../../sql/accounts/users.js'
import type { Database } from '../../sql/database/database.js'

export interface AppOfFactor {
  readonly secret: string
  /** The code now, or so many steps later. */
  code(stepsLater?: number): string
}

/** What an app shows that has this secret. */
export function appOf(secret: string): AppOfFactor {
  return { secret, code: (stepsLater = 0) => codeOf(secret, stepAt(Date.now()) + stepsLater) }
}

/** Gives a user a second factor of which no code was used yet, with this recovery code alone. */
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
