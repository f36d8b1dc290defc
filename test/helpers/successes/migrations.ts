/** Successful requests, one for each operation on imported repositories. */

import type { GatewayWithUsers } from '../gateway-with-users.js'

/** Sends the requests. Requires ada's repository `r`, which the server imports from itself. */
export async function successesOfMigrations({ as, port }: GatewayWithUsers) {
  const clone_addr = `http://127.0.0.1:${port}/ada/r.git`
  const body = { clone_addr, repo_name: 'mirror', mirror: true }
  return {
    repoMigrate: await as('ada', 'POST', '/repos/migrate', body),
    repoMirrorSync: await as('ada', 'POST', '/repos/ada/mirror/mirror-sync'),
  }
}
