/** Sets of hosts: names, addresses and networks, as in the setting `outbound.allow`. */

import { isIP } from 'node:net'
import { parseAddressSet } from './addresses.js'

export interface HostSet {
  /** The entries as they were given. */
  readonly entries: readonly string[]
  /** Returns true if the name, in lower case and without a final dot, is in the set. */
  hasName(hostname: string): boolean
  /** Returns true if the address, or a network that contains it, is in the set. */
  hasAddress(address: string): boolean
}

const NAME = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/

/** Parses names, addresses and networks into a set. Throws an Error that names the valid forms. */
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
    throw new Error("must be hosts such as 'ci.example.org', '192.0.2.7' or '10.0.0.0/8'")
  }
}
