/** Who is at the other end: the peer itself, or whom a trusted proxy names. */

import { isIP, isIPv6 } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { AddressSet } from '../../conf/addresses.js'
import type { RequestHeaders } from '../../conf/http.js'

export interface Client {
  readonly address: string
  readonly scheme: 'http' | 'https'
}

/**
 * The client behind a connection from `peer`. Forwarding headers count only when the peer is a
 * trusted proxy, and then the last address that is not a proxy itself is the client's: everything
 * before it was written by strangers.
 */
export function clientOf(
  peer: string,
  headers: RequestHeaders,
  trustedProxies: AddressSet,
): Client {
  const { direct, isTrusted } = lookUpPeer(peer, trustedProxies)
  if (!isTrusted) return { address: direct, scheme: 'http' }
  const scheme = headers.get('x-forwarded-proto') === 'https' ? 'https' : 'http'
  const forwarded = headers.get('x-forwarded-for')
  if (forwarded === undefined) return { address: direct, scheme }
  const hops = forwarded.split(',').map((hop) => plainAddress(hop.trim()))
  const client = hops.reverse().find((hop) => !trustedProxies.has(hop))
  return { address: client !== undefined && isIP(client) !== 0 ? client : direct, scheme }
}

interface Peer {
  readonly direct: string
  readonly isTrusted: boolean
}

const PEERS_MAX = 1_000

/** Few peers send most requests, and what their addresses mean does not change. */
const peers = new WeakMap<AddressSet, LRUCache<string, Peer>>()

function lookUpPeer(text: string, trustedProxies: AddressSet): Peer {
  let known = peers.get(trustedProxies)
  if (known === undefined) {
    known = new LRUCache({ max: PEERS_MAX })
    peers.set(trustedProxies, known)
  }
  const seen = known.get(text)
  if (seen !== undefined) return seen
  const direct = plainAddress(text)
  const peer = { direct, isTrusted: trustedProxies.has(direct) }
  known.set(text, peer)
  return peer
}

/** An IPv4 address, or the first 64 bits of an IPv6 one: a subscriber has all the rest at hand. */
export function networkOf(address: string): string {
  if (!address.includes(':') || !isIPv6(address)) return address
  const [before = [], after] = address.split('::').map((part) => part.split(':'))
  const zeros = after === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...(after ?? [])]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group || '0', 16))
    .join(':')
}

/** Without the IPv4-mapped form, so that one client has one address. */
function plainAddress(address: string): string {
  const lower = address.toLowerCase()
  if (lower.startsWith('::ffff:') && isIP(lower.slice(7)) === 4) return lower.slice(7)
  const mapped =
    /^0000:0000:0000:0000:0000:ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$/
  const bytes = mapped.exec(lower)
  if (bytes === null) return address
  return bytes
    .slice(1)
    .map((byte) => Number.parseInt(byte, 16))
    .join('.')
}
