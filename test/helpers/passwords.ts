/** Passwords of test users, each hashed once per process. */

import { hashPassword } from '../../gateway/auth/password.js'

const hashes = new Map<string, Promise<string>>()

/** Returns the password of a test user. */
export function passwordOf(name: string): string {
  return `password of ${name}`
}

/** Returns the hash of that password, whose computation takes tens of milliseconds. */
export function passwordHashOf(name: string): Promise<string> {
  const known = hashes.get(name)
  if (known !== undefined) return known
  const hash = hashPassword(passwordOf(name))
  hashes.set(name, hash)
  return hash
}
