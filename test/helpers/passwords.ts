/** The passwords of the users that tests make, each hashed once in a process. */

import { hashPassword } from '../../gateway/auth/password.js'

const hashes = new Map<string, Promise<string>>()

/** The password of a user that a test made. */
export function passwordOf(name: string): string {
  return `password of ${name}`
}

/** Its hash, which takes tens of milliseconds to compute. */
export function passwordHashOf(name: string): Promise<string> {
  const known = hashes.get(name)
  if (known !== undefined) return known
  const hash = hashPassword(passwordOf(name))
  hashes.set(name, hash)
  return hash
}
