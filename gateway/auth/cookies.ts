/** Cookies of the house: for its own pages alone, out of reach of scripts. */

import type { Reply, Request } from '../../conf/http.js'
import type { Settings } from '../../conf/settings.js'

/** A header of a reply. */
export type Header = NonNullable<Reply['headers']>[number]

export interface Cookie {
  readonly name: string
  readonly value: string
  /** None: the browser forgets it at once. */
  readonly ageSeconds: number
  /** Below the base URL; by default for all of it. */
  readonly path?: string
}

/** The header that gives a browser a cookie. */
export function setCookie({ http }: Settings, cookie: Cookie): Header {
  const { name, value, ageSeconds, path = '' } = cookie
  const secure = http.baseUrl.startsWith('https:') ? '; Secure' : ''
  const place = http.basePath + path || '/'
  return [
    'Set-Cookie',
    `${name}=${value}; Path=${place}; Max-Age=${ageSeconds}; HttpOnly; SameSite=Lax${secure}`,
  ]
}

/** What a browser sends back under that name. */
export function readCookie({ headers }: Request, name: string): string | undefined {
  return (headers.get('cookie') ?? '')
    .split(/[;,]\s*/)
    .find((part) => part.startsWith(`${name}=`))
    ?.slice(name.length + 1)
}
