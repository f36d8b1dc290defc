/** Address of a request's client: the peer's, or the one that a trusted proxy forwards. */

import { isIP, isIPv6 } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { AddressSet } from '../../conf/addresses.js'
import type { RequestHeaders } from '../../conf/http.js'

export interface Client {
  readonly address: string
  readonly scheme: 'http' | 'https'
  /** True if a trusted proxy has forwarded the request. */
  readonly isForwarded: boolean
}

export interface ConnectionTrust {
  readonly trustedProxies: AddressSet
  /** Scheme of the connection itself. */
  readonly ownScheme: 'http' | 'https'
}

/**
 * Returns the client behind a connection from `peer`. Forwarding headers are used only if the peer
 * is a trusted proxy. The client is then the last address in X-Forwarded-For that is not a trusted
 * proxy, because any client can send the entries before it. If that is no IP address, the peer's
 * address is used.
 */
export function clientOf(
  peer: string,
  headers: RequestHeaders,
  { trustedProxies, ownScheme }: ConnectionTrust,
): Client {
  const { direct, isTrusted } = lookUpPeer(peer, trustedProxies)
  if (!isTrusted) return { address: direct, scheme: ownScheme, isForwarded: false }
  const proto = headers.get('x-forwarded-proto')
  const scheme = proto === undefined ? ownScheme : proto === 'https' ? 'https' : 'http'
  const forwarded = headers.get('x-forwarded-for')
  if (forwarded === undefined) return { address: direct, scheme, isForwarded: false }
  const hops = forwarded.split(',').map((hop) => plainAddress(hop.trim()))
  const client = hops.reverse().find((hop) => !trustedProxies.has(hop))
  const address = client !== undefined && isIP(client) !== 0 ? client : direct
  return { address, scheme, isForwarded: true }
}

interface Peer {
  readonly direct: string
  readonly isTrusted: boolean
}

const PEERS_MAX = 1_000

/** Results per proxy set: a few peers send most requests, and the result never changes. */
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

/**
 * Returns a key for the network of an address: the IPv4 address, or the first 64 bits of the IPv6
 * address, because one subscriber controls all addresses that share them.
 */
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

/** Converts an IPv4-mapped IPv6 address to IPv4, so that one client has one address. */
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
