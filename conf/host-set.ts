/** Sets of hosts: names, addresses and networks that the settings allow. */

import { isIP } from 'node:net'
import { parseAddressSet } from './addresses.js'

export interface HostSet {
  /** As they were written. */
  readonly entries: readonly string[]
  /** Whether the name itself is in the set; a name in lower case, without a dot at its end. */
  hasName(hostname: string): boolean
  /** Whether the address is in the set, by itself or by its network. */
  hasAddress(address: string): boolean
}

const NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/

/** A set from `ci.example.org` and `10.0.0.0/8` forms. Throws an Error that says what is wanted. */
export function parseHostSet(entries: readonly string[]): HostSet {
  const isName = (entry: string) =>
    isIP(entry) === 0 && NAME.test(entry.toLowerCase()) && !/^[\d.]+$/.test(entry)
  const names = new Set(entries.filter(isName).map((entry) => entry.toLowerCase()))
  const addresses = entries.filter((entry) => !isName(entry))
  try {
    return {
      entries,
      hasName: (hostname) => names.has(hostname),
      hasAddress: parseAddressSet(addresses).has,
    }
  } catch {
    throw new Error("wants hosts such as 'ci.example.org', '192.0.2.7' or '10.0.0.0/8'")
  }
}
