/**
 * Passwords: hashed with Argon2id (RFC 9106). Their verification takes the same time whether or not
 * the user exists.
 */

import { hash, verify } from '@node-rs/argon2'
import { Failure } from '../../conf/failures.js'
import { isTokenShaped } from './token.js'

/** Length limits of a password. The maximum bounds the cost of argon2, which hashes all of it. */
export const PASSWORD_CHARACTERS_MIN = 8
export const PASSWORD_CHARACTERS_MAX = 256

/** First configuration that OWASP recommends for Argon2id: 19 MiB, two passes. */
const OPTIONS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

/** Hash that is verified in place of a missing user's. */
let decoy: Promise<string> | undefined

/**
 * Returns the hash to store. Throws `invalid` for a password that is too short, too long, or has
 * the form of a token.
 */
export async function hashPassword(password: string): Promise<string> {
  if (password.length < PASSWORD_CHARACTERS_MIN || password.length > PASSWORD_CHARACTERS_MAX) {
    throw new Failure(
      'invalid',
      `A password must have ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters.`,
    )
  }
  if (isTokenShaped(password)) {
    throw new Failure('invalid', 'A password must not look like an access token.')
  }
  return hash(password, OPTIONS)
}

/** True if the password matches the hash. Without a hash, returns false after the same time. */
export async function checkPassword(kept: string | undefined, password: string): Promise<boolean> {
  if (password.length > PASSWORD_CHARACTERS_MAX) return false
  decoy ??= hash('', OPTIONS)
  const matches = await verify(kept ?? (await decoy), password)
  return matches && kept !== undefined
}

/** Returns true for a text of the form that `hashPassword` returns. */
export function isPasswordHash(text: string): boolean {
  return HASH.test(text)
}

/** The PHC string format of Argon2. */
const HASH = /^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]{11,}\$[A-Za-z0-9+/]{20,}$/
