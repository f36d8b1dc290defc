/** Forms as a browser sends them, and the session that it is given. */

import type { Gateway } from './gateway.js'
import type { Answer } from './requests.js'

/** Sends a form of a page. */
export function postForm(
  { ask }: Pick<Gateway, 'ask'>,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = new URLSearchParams(fields).toString()
  const type = 'application/x-www-form-urlencoded'
  return ask({ method: 'POST', path, body, headers: { 'content-type': type, ...headers } })
}

/** The cookie that an answer gave, as the browser sends it back; empty for none. */
export function cookieOf({ headers }: Answer): string {
  return String(headers['set-cookie'] ?? '').split(';')[0] ?? ''
}

/** The session of a user that a test made. */
export async function signIn(gateway: Pick<Gateway, 'ask'>, name: string): Promise<string> {
  const fields = { user_name: name, password: `password of ${name}` }
  return cookieOf(await postForm(gateway, '/user/login', fields))
}
