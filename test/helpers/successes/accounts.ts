/** Successful requests, one for each operation on accounts, repositories and keys. */

import type { GatewayWithUsers } from '../gateway-with-users.js'
import { passwordOf } from '../passwords.js'
import { aPicture } from '../pictures.js'
import { withPassword } from '../requests.js'
import { aKeyLine } from '../ssh-keys.js'

/** Sends the requests. Leaves ada's repository `r` and the organization `club`. */
export async function successesOfAccounts(gateway: GatewayWithUsers) {
  const { as, ask } = gateway
  const authorization = withPassword('ada', passwordOf('ada'))
  const account = (method: string, rest: string, body?: unknown) =>
    ask({ method, path: `/api/v1/users/ada/tokens${rest}`, body, authorization })
  const made = await as('ada', 'POST', '/user/keys', { title: 'k', key: aKeyLine() })
  const { id } = made.json as { id: number }
  const oauth2 = '/user/applications/oauth2'
  const input = { name: 'ci', redirect_uris: ['https://ci.example/'], confidential_client: true }
  return {
    getVersion: await as('anyone', 'GET', '/version'),
    orgCreate: await as('ada', 'POST', '/orgs', { username: 'club' }),
    createOrgRepo: await as('ada', 'POST', '/orgs/club/repos', { name: 'r' }),
    createOrgRepoDeprecated: await as('ada', 'POST', '/org/club/repos', { name: 'old-path' }),
    createCurrentUserRepo: await as('ada', 'POST', '/user/repos', { name: 'r' }),
    repoGet: await as('ada', 'GET', '/repos/ada/r'),
    repoCreateKey: await as('ada', 'POST', '/repos/ada/r/keys', { title: 'k', key: aKeyLine() }),
    repoListKeys: await as('ada', 'GET', '/repos/ada/r/keys'),
    repoGetKey: await as('ada', 'GET', '/repos/ada/r/keys/1'),
    repoDeleteKey: await as('ada', 'DELETE', '/repos/ada/r/keys/1'),
    repoEdit: await as('ada', 'PATCH', '/repos/ada/r', { description: 'changed' }),
    userCurrentListRepos: await as('ada', 'GET', '/user/repos'),
    userGetCurrent: await as('ada', 'GET', '/user'),
    userGet: await as('anyone', 'GET', '/users/ada'),
    userCurrentPostKey: made,
    userCurrentListKeys: await as('ada', 'GET', '/user/keys'),
    userListKeys: await as('ada', 'GET', '/users/ada/keys'),
    userCurrentGetKey: await as('ada', 'GET', `/user/keys/${id}`),
    userCurrentDeleteKey: await as('ada', 'DELETE', `/user/keys/${id}`),
    userCreateToken: await account('POST', '', { name: 'x', scopes: ['all'] }),
    userGetTokens: await account('GET', ''),
    userCreateOAuth2Application: await as('ada', 'POST', oauth2, input),
    userGetOauth2Application: await as('ada', 'GET', oauth2),
    userGetOAuth2Application: await as('ada', 'GET', `${oauth2}/4`),
    userUpdateOAuth2Application: await as('ada', 'PATCH', `${oauth2}/4`, input),
    userDeleteOAuth2Application: await as('ada', 'DELETE', `${oauth2}/4`),
    userDeleteAccessToken: await account('DELETE', '/x'),
    ...(await successesOfAvatars(gateway)),
  }
}

async function successesOfAvatars({ as }: GatewayWithUsers) {
  const image = aPicture().toString('base64')
  return {
    userUpdateAvatar: await as('ada', 'POST', '/user/avatar', { image }),
    userDeleteAvatar: await as('ada', 'DELETE', '/user/avatar'),
    orgUpdateAvatar: await as('ada', 'POST', '/orgs/club/avatar', { image }),
    orgDeleteAvatar: await as('ada', 'DELETE', '/orgs/club/avatar'),
    repoUpdateAvatar: await as('ada', 'POST', '/repos/ada/r/avatar', { image }),
    repoDeleteAvatar: await as('ada', 'DELETE', '/repos/ada/r/avatar'),
  }
}
