/** People at the pages of a gateway, each with a session: what they ask for, and what they send. */

import { type GatewayOptions, startGateway } from './gateway.js'
import { passwordOf } from './passwords.js'
import type { Answer, RequestOptions } from './requests.js'

/** What somebody at a browser does. */
export interface Visitor {
  /** What the browser keeps; a new password gives it another. */
  readonly headers: Readonly<Record<string, string>>
  get(path: string): Promise<Answer>
  post(path: string, fields: Fields): Promise<Answer>
}

/** Several values of one name are a list. */
export type Fields = Readonly<Record<string, string | readonly string[]>>

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

/** A gateway, and a way to sign in at it. */
export async function startWebGateway(t: Teardown, options?: GatewayOptions) {
  const gateway = await startGateway(t, options)
  const visitor = (headers: Readonly<Record<string, string>>): Visitor => ({
    headers,
    get: (path) => gateway.ask({ path, headers }),
    post: (path, fields) => gateway.ask(formOf(path, fields, headers)),
  })
  /** By the name and its password; another one where it has changed. */
  const signIn = async (name: string, password = passwordOf(name), agent = 'Browser/1') => {
    const fields = { user_name: name, password }
    const answer = await gateway.ask(formOf('/user/login', fields, { 'user-agent': agent }))
    return visitor({ cookie: cookieOf(answer) })
  }
  return { ...gateway, visitor, signIn }
}

/** What an answer gives a browser to keep; empty for none. */
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
