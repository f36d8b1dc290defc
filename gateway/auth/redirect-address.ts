/** Addresses to which an application has people led back, and whether one of them is meant. */

import { Failure } from '../../conf/failures.js'
import type { OauthApplication } from '../../sql/accounts/oauth-applications.js'

const ADDRESSES_MAX = 20
const CHARACTERS_MAX = 2_000

/** Addresses fit to be registered, as they were given. Throws `bad_request` with the reason. */
export function checkRedirectAddresses(addresses: readonly string[]): readonly string[] {
  if (addresses.length === 0 || addresses.length > ADDRESSES_MAX) {
    throw new Failure('bad_request', `Give from one to ${ADDRESSES_MAX} redirect addresses.`)
  }
  for (const address of addresses) {
    const fault = faultOf(address)
    if (fault !== undefined) {
      throw new Failure('bad_request', `The redirect address ${address.slice(0, 100)} ${fault}.`)
    }
  }
  return [...new Set(addresses)]
}

/** A program's own scheme is a domain of its maker, the other way round (RFC 8252 §7.1). */
function faultOf(address: string): string | undefined {
  // A browser would read a backslash as a slash.
  if (!/^[!-[\]-~]+$/.test(address) || address.length > CHARACTERS_MAX || !URL.canParse(address)) {
    return 'is not a whole address'
  }
  const { protocol, username, password } = new URL(address)
  if (address.includes('#')) return 'has a fragment'
  if (username !== '' || password !== '') return 'has a user name'
  const isWeb = /^https?:\/\/(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d+)?(?:[/?]|$)/.test(address)
  if (!isWeb && !protocol.includes('.')) return 'is neither http, https nor like com.example.app:/x'
  return undefined
}

/**
 * Where a request leads that names this address, or none; undefined where it is not one that is
 * registered, to the letter. Programs on people's own machines listen at any port (RFC 8252 §7.3).
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

/** Of an address on the machine itself; undefined for any other. */
function withoutPort(address: string): string | undefined {
  if (address.length > CHARACTERS_MAX || !URL.canParse(address)) return undefined
  const url = new URL(address)
  const isLoopback = /^(?:127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)
  const isPlain = url.username === '' && url.password === '' && !address.includes('#')
  if (!isLoopback || !isPlain || !/^https?:$/.test(url.protocol)) return undefined
  return `${url.protocol}//${url.hostname}${url.pathname}${url.search}`
}

/** The address with what is told to the application. */
export function withAnswer(address: string, answer: Readonly<Record<string, string>>): string {
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams(answer)}`
}
