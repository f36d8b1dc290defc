/** Cookies of the web pages; scripts and other sites' forms cannot use them. */

import type { Reply, Request } from '../../conf/http.js'
import type { Settings } from '../../conf/settings.js'

/** A header of a reply. */
export type Header = NonNullable<Reply['headers']>[number]

export interface Cookie {
  readonly name: string
  readonly value: string
  /** Lifetime; 0 makes the browser delete the cookie. */
  readonly ageSeconds: number
  /** Path below the base URL; by default, the cookie is sent to all paths. */
  readonly path?: string
}

/** Returns the header that sets a cookie. */
export function setCookie({ http }: Settings, cookie: Cookie): Header {
  const { name, value, ageSeconds, path = '' } = cookie
  const secure = http.baseUrl.startsWith('https:') ? '; Secure' : ''
  const place = http.basePath + path || '/'
  return [
    'Set-Cookie',
    `${name}=${value}; Path=${place}; Max-Age=${ageSeconds}; HttpOnly; SameSite=Lax${secure}`,
  ]
}

/** Returns the value of the request's cookie of that name. */
export function readCookie({ headers }: Request, name: string): string | undefined {
  return (headers.get('cookie') ?? '')
    .split(/[;,]\s*/)
    .find((part) => part.startsWith(`${name}=`))
    ?.slice(name.length + 1)
}
