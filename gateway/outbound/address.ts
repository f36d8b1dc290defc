/** Addresses that may be called: public ones of other machines, and those that settings allow. */

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { parseAddressSet } from '../../conf/addresses.js'
import { Failure } from '../../conf/failures.js'
import type { HostSet } from '../../conf/host-set.js'

export interface OutboundOptions {
  /** Hosts that may be called although they are not public: the setting `outbound.allow`. */
  readonly allowPrivate: HostSet
  /** Resolver of host names; by default that of the system. */
  readonly resolve?: Resolve
}

/** Returns all addresses of a name. Throws if it has none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/**
 * Returns the addresses of a host, in the order of the system. The caller connects to one of these
 * and does not resolve the name a second time. Throws `invalid` if the host does not resolve, or if
 * any of its addresses is not public and not in `outbound.allow`, and `bad_gateway` if the resolver
 * fails for the moment.
 *
 * The two `invalid` messages differ deliberately: a misspelt name and an internal host need
 * different corrections. As a result, a user who may create webhooks or imports learns if a name
 * resolves on this server, which includes names of an internal DNS. The messages contain no address
 * that the user did not send, and no connection is made.
 */
export async function resolveOutbound(
  hostname: string,
  { allowPrivate, resolve = resolveBySystem }: OutboundOptions,
): Promise<readonly string[]> {
  const name = nameOf(hostname)
  const addresses = await resolveHost(hostname, resolve)
  const mayBeCalled = (address: string) =>
    isIP(address) !== 0 &&
    (allowPrivate.hasName(name) ||
      allowPrivate.hasAddress(address) ||
      (isPublicAddress(address) && !isOwnAddress(address)))
  if (addresses.length === 0) throw new UnresolvedHost(name)
  if (!addresses.every(mayBeCalled)) throw notAllowed(name)
  return addresses
}

/**
 * Returns the addresses of a host, also those that may not be called. Throws `invalid` if it does
 * not resolve, and `bad_gateway` if the resolver fails for the moment.
 */
export async function resolveHost(
  hostname: string,
  resolve: Resolve = resolveBySystem,
): Promise<readonly string[]> {
  const name = nameOf(hostname)
  return isIP(name) === 0 ? await resolveName(name, resolve) : [name]
}

function nameOf(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}

/** Failure for a host that has no address. */
export class UnresolvedHost extends Failure {
  constructor(name: string) {
    super('invalid', `The host '${name}' does not resolve. Check the spelling.`)
  }
}

function notAllowed(name: string): Failure {
  return new Failure(
    'invalid',
    `The host '${name}' has an address that is not allowed: it is not public, or it is this ` +
      "server's own. An administrator can allow it with the setting 'outbound.allow'.",
  )
}

/** Temporary errors of getaddrinfo(3). */
const PASSING_ERRORS: ReadonlySet<unknown> = new Set(['EAI_AGAIN', 'EAI_MEMORY', 'EAI_SYSTEM'])

async function resolveName(name: string, resolve: Resolve): Promise<readonly string[]> {
  if (name === '' || name.length > 253 || /[^a-z0-9._-]/.test(name)) throw new UnresolvedHost(name)
  try {
    return await resolve(name)
  } catch (cause) {
    if (!PASSING_ERRORS.has((cause as NodeJS.ErrnoException).code)) throw new UnresolvedHost(name)
    throw new Failure('bad_gateway', `The host '${name}' cannot be resolved now.`, { cause })
  }
}

/** Limit of concurrent DNS queries: each blocks one of the few threads that also read files. */
const LOOKUPS_MAX = 2
let lookups = 0
const waiting: (() => void)[] = []

async function resolveBySystem(hostname: string): Promise<readonly string[]> {
  if (lookups >= LOOKUPS_MAX) await new Promise<void>((resolve) => waiting.push(resolve))
  else lookups += 1
  try {
    const found = await lookup(hostname, { all: true, verbatim: true })
    return found.map(({ address }) => address)
  } finally {
    const next = waiting.shift()
    if (next === undefined) lookups -= 1
    else next()
  }
}

/** Special-purpose IPv4 addresses (IANA registry) that are not public, and multicast. */
const SPECIAL_IPV4 = parseAddressSet([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
])

/** All globally routed IPv6 unicast addresses. */
const GLOBAL_IPV6 = parseAddressSet(['2000::/3'])

/**
 * Exceptions in `GLOBAL_IPV6`: protocol assignments such as Teredo and ORCHID, documentation, 6to4
 * (which embeds IPv4 addresses), and documentation.
 */
const SPECIAL_IPV6 = parseAddressSet(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

/** NAT64 addresses (RFC 6052): the last 32 bits are an IPv4 address, which they lead to. */
const NAT64 = parseAddressSet(['64:ff9b::/96'])

/** True if the address is public, that is, reachable on the internet. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !SPECIAL_IPV4.has(address)
    case 6:
      if (address.includes('%')) return false
      if (NAT64.has(address)) return !SPECIAL_IPV4.has(lastBitsOf(address))
      return GLOBAL_IPV6.has(address) && !SPECIAL_IPV6.has(address)
    default:
      return false
  }
}

/** Returns the IPv4 address in the last 32 bits of an IPv6 address. */
function lastBitsOf(address: string): string {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const groups = canonical.split(':').map((group) => Number.parseInt(group || '0', 16))
  const [high = 0, low = 0] = groups.slice(-2)
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/** True for an address of this machine, whose services users must not reach through a URL. */
function isOwnAddress(address: string): boolean {
  const canonical = canonicalOf(address)
  return Object.values(networkInterfaces())
    .flat()
    .some((own) => own !== undefined && canonicalOf(own.address) === canonical)
}

function canonicalOf(address: string): string {
  return isIP(address) === 6 && !address.includes('%')
    ? new URL(`http://[${address}]`).hostname.slice(1, -1)
    : address
}
