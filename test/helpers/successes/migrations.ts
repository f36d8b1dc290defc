/** One request of each operation on repositories from elsewhere that succeeds. */

import type { GatewayWithUsers } from '../gateway-with-users.js'

/** Ada's repository `r` has to be there: this house imports it from itself. */
export async function successesOfMigrations({ as, port }: GatewayWithUsers) {
  const clone_addr = `http://127.0.0.1:${port}/ada/r.git`
  const body = { clone_addr, repo_name: 'mirror', mirror: true }
  return {
    repoMigrate: await as('ada', 'POST', '/repos/migrate', body),
    repoMirrorSync: await as('ada', 'POST', '/repos/ada/mirror/mirror-sync'),
  }
}
