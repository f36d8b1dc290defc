/** Successful requests, one for each operation on protections of branches and tags. */

import type { GatewayWithUsers } from '../gateway-with-users.js'

/** Sends the requests in a new repository, which is kept. */
export async function successesOfProtections({ as }: GatewayWithUsers) {
  await as('ada', 'POST', '/user/repos', { name: 'ruled' })
  const ask = (method: string, rest = '', body?: unknown) =>
    as('ada', method, `/repos/ada/ruled/branch_protections${rest}`, body)
  const tags = (method: string, rest = '', body?: unknown) =>
    as('ada', method, `/repos/ada/ruled/tag_protections${rest}`, body)
  const rule = { name_pattern: 'v*', whitelist_usernames: ['ada'] }
  return {
    repoCreateTagProtection: await tags('POST', '', rule),
    repoGetTagProtection: await tags('GET', '/1'),
    repoEditTagProtection: await tags('PATCH', '/1', { name_pattern: 'w*' }),
    repoListTagProtection: await tags('GET'),
    repoDeleteTagProtection: await tags('DELETE', '/1'),
    repoCreateBranchProtection: await ask('POST', '', { rule_name: 'main', enable_push: true }),
    repoGetBranchProtection: await ask('GET', '/main'),
    repoEditBranchProtection: await ask('PATCH', '/main', { required_approvals: 1 }),
    repoListBranchProtection: await ask('GET'),
    repoUpdateBranchProtectionPriories: await ask('POST', '/priority', { ids: [1] }),
    repoDeleteBranchProtection: await ask('DELETE', '/main'),
  }
}
