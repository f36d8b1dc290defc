/** Passwords of test users, whose hashes are cheap. */

import { hash } from '@node-rs/argon2'

/** Lowest cost; a sign-in verifies with the cost in the hash, which is in the product high. */
const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 } as const

/** Returns the password of a test user. */
export function passwordOf(name: string): string {
  return `password of ${name}`
}

/** Returns a hash of that password. */
export function passwordHashOf(name: string): Promise<string> {
  return hash(passwordOf(name), CHEAP)
}
