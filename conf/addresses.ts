/** Sets of network addresses, such as the trusted proxies or the clients of the metrics. */

import { BlockList, isIP } from 'node:net'

export interface AddressSet {
  /** The addresses and networks as they were given. */
  readonly entries: readonly string[]
  /**
   * Returns true if the address is in the set. An IPv4-mapped IPv6 address counts as that IPv4
   * address. A text that is not an address is never in the set.
   */
  has(address: string): boolean
}

/**
 * Parses addresses (`192.0.2.7`) and networks (`10.0.0.0/8`) into a set. Throws an Error that
 * names the accepted forms.
 */
export function parseAddressSet(entries: readonly string[]): AddressSet {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', bits, ...rest] = entry.split('/')
    const version = isIP(address)
    const family = version === 6 ? 'ipv6' : 'ipv4'
    const width =
      bits === undefined ? undefined : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
    const widthMax = version === 6 ? 128 : 32
    if (version === 0 || rest.length > 0 || Number.isNaN(width) || (width ?? 0) > widthMax) {
      throw new Error("must be addresses such as '192.0.2.7' or '10.0.0.0/8'")
    }
    if (width === undefined) list.addAddress(address, family)
    else list.addSubnet(address, width, family)
  }
  const check = (address: string) => {
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4')
  }
  return { entries, has: memoize(check) }
}

/** Size of the memo. Each request checks one of a few addresses, and a `BlockList` is slow. */
const ADDRESSES_MAX = 1_000

function memoize(check: (address: string) => boolean): (address: string) => boolean {
  const known = new Map<string, boolean>()
  return (address) => {
    const before = known.get(address)
    if (before !== undefined) return before
    if (known.size >= ADDRESSES_MAX) known.clear()
    const isIn = check(address)
    known.set(address, isIn)
    return isIn
  }
}
