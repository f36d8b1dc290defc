/** Sets of network addresses: who is a trusted proxy, who may read the metrics. */

import { BlockList, isIP } from 'node:net'

export interface AddressSet {
  /** As they were written. */
  readonly entries: readonly string[]
  /** False for a text that is no address; an IPv4 address in IPv6 form is that IPv4 address. */
  has(address: string): boolean
}

/** A set from `192.0.2.7` and `10.0.0.0/8` forms. Throws an Error that says what is wanted. */
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
      throw new Error("wants addresses such as '192.0.2.7' or '10.0.0.0/8'")
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

/** The same few addresses are asked about on each request, and the list is slow to answer. */
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
