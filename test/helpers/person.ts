/** Users with a token for a gateway in the test's process, as `startGatehouse` creates them. */

import { askApi, type Person } from './gatehouse.js'
import type { Gateway } from './gateway.js'
import { passwordOf } from './passwords.js'

/** Creates a user with a token of all scopes. */
export async function addPerson(
  gateway: Pick<Gateway, 'addUser' | 'addToken' | 'port'>,
  name: string,
  { isAdmin = false }: { readonly isAdmin?: boolean } = {},
): Promise<Person> {
  const { port } = gateway
  const user = await gateway.addUser(name, { isAdmin })
  const { plain: token } = await gateway.addToken(user, 'all')
  return {
    name,
    password: passwordOf(name),
    token,
    api: (method, path, body) =>
      askApi(port, { method, path, body, authorization: `token ${token}` }),
    remote: (path) => `http://${name}:${token}@127.0.0.1:${port}/${path}`,
  }
}
