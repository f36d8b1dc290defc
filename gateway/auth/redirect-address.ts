/** Redirect addresses of OAuth applications: validation, and comparison with registered ones. */

import { Failure } from '../../conf/failures.js'
import type { OauthApplication } from '../../sql/accounts/oauth-applications.js'

const ADDRESSES_MAX = 20
const CHARACTERS_MAX = 2_000

/** Returns the addresses, without duplicates. Throws `bad_request` if one cannot be registered. */
export function checkRedirectAddresses(addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0 || addresses.length > ADDRESSES_MAX) {
    throw new Failure(
      'bad_request',
      `An application needs 1 to ${ADDRESSES_MAX} redirect addresses.`,
    )
  }
  for (const address of addresses) {
    const fault = faultOf(address)
    if (fault !== undefined) {
      throw new Failure('bad_request', `The redirect address ${address.slice(0, 100)} ${fault}.`)
    }
  }
  return [...new Set(addresses)]
}

/**
 * Returns the fault of an address, or undefined. A native application's own scheme is a reversed
 * domain name (RFC 8252 §7.1), so it contains a dot.
 */
function faultOf(address: string): string | undefined {
  // A browser would read a backslash as a slash.
  if (!/^[!-[\]-~]+$/.test(address) || address.length > CHARACTERS_MAX || !URL.canParse(address)) {
    return 'is not a complete URL'
  }
  const { protocol, username, password } = new URL(address)
  if (address.includes('#')) return 'has a fragment'
  if (username !== '' || password !== '') return 'has a user name'
  const isWeb = /^https?:\/\/(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?(?:[/?]|$)/.test(address)
  if (!isWeb && !protocol.includes('.')) return 'is neither http, https nor like com.example.app:/x'
  return undefined
}

/**
 * Returns the address to which a request that names `asked` is redirected; undefined unless exactly
 * that address is registered. An empty one means the only registered address. Native applications
 * may listen on any port of the loopback interface (RFC 8252 §7.3).
 */
export function registeredAddress(
  { redirectUris, isConfidential }: Pick<OauthApplication, 'redirectUris' | 'isConfidential'>,
  asked: string,
): string | undefined {
  if (asked === '') return redirectUris.length === 1 ? redirectUris[0] : undefined
  if (redirectUris.includes(asked)) return asked
  const own = isConfidential ? undefined : withoutPort(asked)
  const isRegistered = own !== undefined && redirectUris.some((uri) => withoutPort(uri) === own)
  return isRegistered ? new URL(asked).href : undefined
}

/** Returns a loopback address without its port; undefined for any other address. */
function withoutPort(address: string): string | undefined {
  if (address.length > CHARACTERS_MAX || !URL.canParse(address)) return undefined
  const url = new URL(address)
  const isLoopback = /^(?:127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)
  const isPlain = url.username === '' && url.password === '' && !address.includes('#')
  if (!isLoopback || !isPlain || !/^https?:$/.test(url.protocol)) return undefined
  return `${url.protocol}//${url.hostname}${url.pathname}${url.search}`
}

/** Returns the address with the response parameters in its query. */
export function withAnswer(address: string, answer: Readonly<Record<string, string>>): string {
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams(answer)}`
}
