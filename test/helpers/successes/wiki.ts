/** Successful requests, one for each operation on wikis. */

import type { GatewayWithUsers } from '../gateway-with-users.js'

/** Sends the requests in a new repository, which is kept. */
export async function successesOfWikis({ as }: GatewayWithUsers) {
  await as('ada', 'POST', '/user/repos', { name: 'handbook' })
  const path = '/repos/ada/handbook/wiki'
  const content = Buffer.from('text').toString('base64')
  const page = { title: 'Home', content_base64: content, message: 'Begin' }
  return {
    repoCreateWikiPage: await as('ada', 'POST', `${path}/new`, page),
    repoGetWikiPages: await as('ada', 'GET', `${path}/pages`),
    repoGetWikiPage: await as('ada', 'GET', `${path}/page/Home`),
    repoGetWikiPageRevisions: await as('ada', 'GET', `${path}/revisions/Home`),
    repoEditWikiPage: await as('ada', 'PATCH', `${path}/page/Home`, page),
    repoDeleteWikiPage: await as('ada', 'DELETE', `${path}/page/Home`),
  }
}
