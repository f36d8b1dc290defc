/** Successful requests, one for each operation on imported repositories. */

import type { GatewayWithUsers } from '../gateway-with-users.js'

/** Sends the requests. Requires ada's repository `r`, which the server imports from itself. */
export async function successesOfMigrations({ as, port }: GatewayWithUsers) {
  const clone_addr = `http://127.0.0.1:${port}/ada/r.git`
  const body = { clone_addr, repo_name: 'mirror', mirror: true }
  const mirrors = '/repos/ada/r/push_mirrors'
  const target = { remote_address: `http://127.0.0.1:${port}/ada/none.git`, interval: '0s' }
  const added = await as('ada', 'POST', mirrors, target)
  const { remote_name } = added.json as { readonly remote_name: string }
  return {
    repoAddPushMirror: added,
    repoListPushMirrors: await as('ada', 'GET', mirrors),
    repoGetPushMirrorByRemoteName: await as('ada', 'GET', `${mirrors}/${remote_name}`),
    repoPushMirrorSync: await as('ada', 'POST', '/repos/ada/r/push_mirrors-sync'),
    repoDeletePushMirror: await as('ada', 'DELETE', `${mirrors}/${remote_name}`),
    repoMigrate: await as('ada', 'POST', '/repos/migrate', body),
    repoMirrorSync: await as('ada', 'POST', '/repos/ada/mirror/mirror-sync'),
  }
}
