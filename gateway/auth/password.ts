/** Passwords: hashed with Argon2id (RFC 9106), checked in equal time whether the user exists. */

import { hash, verify } from '@node-rs/argon2'
import { Failure } from '../../conf/failures.js'
import { PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN } from '../../conf/limits.js'
import { isTokenShaped } from './token.js'

/** The first choice of OWASP for Argon2id: 19 MiB, two passes. */
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

/** A hash of nothing, checked in place of a user who does not exist. */
let decoy: Promise<string> | undefined

/** The hash to keep. Throws `invalid` for a password too short, too long, or like a token. */
export async function hashPassword(password: string): Promise<string> {
  if (password.length < PASSWORD_CHARACTERS_MIN || password.length > PASSWORD_CHARACTERS_MAX) {
    throw new Failure(
      'invalid',
      `A password has ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters.`,
    )
  }
  if (isTokenShaped(password)) {
    throw new Failure('invalid', 'A password must not look like an access token.')
  }
  return hash(password, OPTIONS)
}

/** Whether the password is the one of the hash; without a hash it takes as long to say no. */
export async function checkPassword(kept: string | undefined, password: string): Promise<boolean> {
  if (password.length > PASSWORD_CHARACTERS_MAX) return false
  decoy ??= hash('', OPTIONS)
  const matches = await verify(kept ?? (await decoy), password)
  return matches && kept !== undefined
}
