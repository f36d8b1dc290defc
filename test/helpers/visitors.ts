/** Users of a gateway's pages, each with a session. */

import { type GatewayOptions, startGateway } from './gateway.js'
import { passwordOf } from './passwords.js'
import type { Answer, RequestOptions } from './requests.js'

/** Browser session that requests pages and submits forms. */
export interface Visitor {
  /** Headers with the session cookie; a new password creates another session. */
  readonly headers: Readonly<Record<string, string>>
  get(path: string): Promise<Answer>
  post(path: string, fields: Fields): Promise<Answer>
}

/** Fields of a form; several values of one name are a list. */
export type Fields = Readonly<Record<string, string | readonly string[]>>

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

/** Starts a gateway, with functions that sign in to its pages. */
export async function startWebGateway(t: Teardown, options?: GatewayOptions) {
  const gateway = await startGateway(t, options)
  const visitor = (headers: Readonly<Record<string, string>>): Visitor => ({
    headers,
    get: (path) => gateway.ask({ path, headers }),
    post: (path, fields) => gateway.ask(formOf(path, fields, headers)),
  })
  /** Signs in with a name and, by default, the password of the test user. */
  const signIn = async (name: string, password = passwordOf(name), agent = 'Browser/1') => {
    const fields = { user_name: name, password }
    const answer = await gateway.ask(formOf('/user/login', fields, { 'user-agent': agent }))
    return visitor({ cookie: cookieOf(answer) })
  }
  return { ...gateway, visitor, signIn }
}

/** Returns the cookie that a reply sets; an empty string if there is none. */
export function cookieOf({ headers }: Answer): string {
  return String(headers['set-cookie'] ?? '').split(';')[0] ?? ''
}

function formOf(
  path: string,
  fields: Fields,
  headers: Readonly<Record<string, string>>,
): RequestOptions {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  )
  return {
    method: 'POST',
    path,
    body: new URLSearchParams(pairs).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  }
}
