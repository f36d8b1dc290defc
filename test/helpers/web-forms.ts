/** Form submissions as a browser sends them, and session cookies. */

import type { Gateway } from './gateway.js'
import type { Answer } from './requests.js'
import { until } from './server-processes.js'

const RENDERED_WITHIN_MS = 20_000

/** Loads a page, and again as long as it asks for that because some texts were not rendered. */
export function seeRendered(see: () => Promise<Answer>): Promise<Answer> {
  return until(see, ({ text }) => !text.includes('the server is busy.'), RENDERED_WITHIN_MS)
}

/** Submits a form of a page. */
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

/** Returns the cookie that a reply sets, for a Cookie header; an empty string if there is none. */
export function cookieOf({ headers }: Answer): string {
  return String(headers['set-cookie'] ?? '').split(';')[0] ?? ''
}

/** Signs a test user in; returns the session cookie. */
export async function signIn(gateway: Pick<Gateway, 'ask'>, name: string): Promise<string> {
  const fields = { user_name: name, password: `password of ${name}` }
  return cookieOf(await postForm(gateway, '/user/login', fields))
}
