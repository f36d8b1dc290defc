/** Gateway with the users ada, bob and root (an administrator), each with an unlimited token. */

import type { Test } from 'tap'
import { repositoryPath } from '../../cgi/repository/paths.js'
import type { User } from '../../sql/accounts/users.js'
import { findRepository } from '../../sql/repositories/repositories.js'
import { BASE_URL, type Gateway, type GatewayOptions, startGateway } from './gateway.js'
import { type Answer, withToken } from './requests.js'

/** User who sends a request; `anyone` is an anonymous client. */
export type Name = 'ada' | 'bob' | 'root' | 'anyone'

export interface GatewayWithUsers extends Gateway {
  readonly ada: User
  readonly bob: User
  /** Returns the Authorization header of a user. */
  authorizationOf(name: Name): string | undefined
  /** Sends an API request: `as('ada', 'GET', '/user')`. */
  as(name: Name, method: string, path: string, body?: unknown): Promise<Answer>
  /** Returns the path of a repository on the disk. */
  pathOf(owner: string, name: string): Promise<string>
}

/** Starts the gateway for the test. */
export async function startGatewayWithUsers(
  t: Test,
  options: GatewayOptions = {},
): Promise<GatewayWithUsers> {
  const gateway = await startGateway(t, options)
  const [ada, bob] = [await gateway.addUser('ada'), await gateway.addUser('bob')]
  const root = await gateway.addUser('root', { isAdmin: true })
  const tokens = new Map<string, string>()
  for (const user of [ada, bob, root]) {
    tokens.set(user.name, withToken((await gateway.addToken(user, 'all')).plain))
  }
  return {
    ...gateway,
    ada,
    bob,
    authorizationOf: (name) => tokens.get(name),
    as: (name, method, path, body) =>
      gateway.ask({ method, path: `/api/v1${path}`, body, authorization: tokens.get(name) }),
    async pathOf(owner, name) {
      const repository = await findRepository(gateway.db, owner, name)
      return repositoryPath(gateway.settings.data.dir, repository?.storage ?? '')
    },
  }
}

/** Returns the parts of a reply by which a client could distinguish it from another. */
export function visible({ status, headers, text }: Answer) {
  const { 'x-request-id': _id, date: _date, ...rest } = headers
  return { status, headers: rest, text }
}

/** Returns the body of an error reply. */
export function refusal(message: string) {
  return { message, url: `${BASE_URL}/api/swagger` }
}
