/** Successful requests, one for each operation on releases and commit statuses. */

import type { GatewayWithUsers } from '../gateway-with-users.js'

/** Sends the requests in a new repository, which is kept. */
export async function successesOfReleases({ as }: GatewayWithUsers) {
  await as('ada', 'POST', '/user/repos', { name: 'released', auto_init: true })
  const path = '/repos/ada/released'
  const made = await as('ada', 'POST', `${path}/releases`, { tag_name: 'v1', tag_message: 'One' })
  await as('ada', 'POST', `${path}/releases`, { tag_name: 'v2' })
  const release = `${path}/releases/${(made.json as { id: number }).id}`
  // The generated client sends this as a form; a plain request sends it as the file itself.
  const file = { attachment: new File(['data'], 'f') }
  const added = await as('ada', 'POST', `${release}/assets?name=f`, file)
  const asset = `${release}/assets/${(added.json as { id: number }).id}`
  return {
    repoCreateRelease: made,
    repoCreateReleaseAttachment: added,
    repoListReleases: await as('ada', 'GET', `${path}/releases`),
    repoGetLatestRelease: await as('ada', 'GET', `${path}/releases/latest`),
    repoGetRelease: await as('ada', 'GET', release),
    repoGetReleaseByTag: await as('ada', 'GET', `${path}/releases/tags/v1`),
    repoEditRelease: await as('ada', 'PATCH', release, { name: 'One' }),
    repoListReleaseAttachments: await as('ada', 'GET', `${release}/assets`),
    repoGetReleaseAttachment: await as('ada', 'GET', asset),
    repoEditReleaseAttachment: await as('ada', 'PATCH', asset, { name: 'g' }),
    repoDeleteReleaseAttachment: await as('ada', 'DELETE', asset),
    repoDeleteRelease: await as('ada', 'DELETE', release),
    repoDeleteReleaseByTag: await as('ada', 'DELETE', `${path}/releases/tags/v2`),
    repoCreateStatus: await as('ada', 'POST', `${path}/statuses/main`, { state: 'success' }),
    repoListStatuses: await as('ada', 'GET', `${path}/statuses/main`),
    repoListStatusesByRef: await as('ada', 'GET', `${path}/commits/main/statuses`),
    repoGetCombinedStatusByRef: await as('ada', 'GET', `${path}/commits/main/status`),
  }
}
